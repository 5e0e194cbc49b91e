/** Asks for a student, or for the folder of a model. */
import { CancellationError, window } from "vscode";
import { findModelFolder } from "../../run/folder.ts";
import { icons } from "../shared/icons.ts";
import { pickOne, type Question } from "../shared/quickInput.ts";
import { describeModelFolder, moveToFront, type StudentChoice } from "./studentChoices.ts";

/**
 * `last`: the label of the student that was chosen the last time, which comes first. Throws a
 * `CancellationError` on Escape, and a `UserError` if the folder that is chosen has no model.
 */
export async function pickStudentOrFolder(
  students: readonly StudentChoice[],
  question: Question,
  last: unknown,
): Promise<StudentChoice> {
  const items = moveToFront(students, it => it.label === last).map(student => ({
    label: student.label,
    description: student.description,
    iconPath: icons.checkpoint,
    choose: () => Promise.resolve(student),
  }));
  const other = {
    label: "Choose Folder…",
    description: "of a Hugging Face model, or of a student",
    choose: chooseFolder,
  };
  return (await pickOne([...items, other], question)).choose();
}

const chooseFolder = async (): Promise<StudentChoice> =>
  describeModelFolder(findModelFolder(await chooseModelFolder()));

/** The path of a folder. Throws a `CancellationError` on Escape. */
export async function chooseModelFolder(): Promise<string> {
  const chosen = await window.showOpenDialog({
    title: "Model Folder",
    canSelectFiles: false,
    canSelectFolders: true,
  });
  const [folder] = chosen ?? [];
  if (!folder) throw new CancellationError();
  return folder.fsPath;
}
