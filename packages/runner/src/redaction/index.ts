// Door of the redaction.
export { createRedactor } from "./redactor.ts";
