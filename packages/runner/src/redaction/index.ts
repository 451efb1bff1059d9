// Door of the redaction.
export { createRedactor, type RedactorOptions } from "./redactor.ts";
