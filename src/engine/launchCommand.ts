/**
 * Command lines of trainings in another engine: one that prepares a folder, and those that start
 * the training of a prepared folder with a service elsewhere.
 */

const address = "http://SERVICE:8970";

/** For TRL: in the folder, on each machine. */
export const formatAccelerateCommand = (folder: string): string =>
  `cd ${quote(folder)} && PROVE_URL=${address} accelerate launch --config_file accelerate.yaml train.py`;

/** For verl: on a Ray cluster whose nodes have the folder under the same path. */
export const formatRayCommand = (folder: string): string => {
  const variables = { env_vars: { PROVE_URL: address, PYTHONPATH: folder } };
  return `ray job submit --address http://HEAD:8265 --runtime-env-json ${quote(JSON.stringify(variables))} -- python ${quote(`${folder}/launch.py`)} trainer.nnodes=2`;
};

/** Prepares a training of the same model on the same tasks. */
export const formatPrepareCommand = ({
  tasks,
  model,
  loraRank,
}: {
  readonly tasks: string;
  readonly model: string;
  readonly loraRank?: number | undefined;
}): string => {
  const lora = loraRank === undefined ? "" : ` --lora ${loraRank}`;
  return `prove-rl engine prepare trl --tasks ${quote(tasks)} --model ${quote(model)}${lora} --out trl`;
};

/** A text as a POSIX shell reads it. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
