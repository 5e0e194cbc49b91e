/** The command lines that start a training of a prepared folder with a service elsewhere. */

const address = "http://SERVICE:8970";

/** For TRL: in the folder, on each machine. */
export const formatAccelerateCommand = (folder: string): string =>
  `cd ${quote(folder)} && PROVE_URL=${address} accelerate launch --config_file accelerate.yaml train.py`;

/** For verl: on a Ray cluster whose nodes have the folder under the same path. */
export const formatRayCommand = (folder: string): string => {
  const variables = { env_vars: { PROVE_URL: address, PYTHONPATH: folder } };
  return `ray job submit --address http://HEAD:8265 --runtime-env-json ${quote(JSON.stringify(variables))} -- python ${quote(`${folder}/launch.py`)} trainer.nnodes=2`;
};

/** A text as a POSIX shell reads it. */
const quote = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
