// Entry point of structured output: the option `output`, and the validation of answers.
export type { OutputOf, OutputSchema } from "./output-types.ts";
export { readOutput } from "./read-output.ts";
