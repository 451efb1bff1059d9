// Entry `@holdfast/redaction`.
export { createRedactor, type Redactor, type RedactorOptions } from "./redactor.ts";
