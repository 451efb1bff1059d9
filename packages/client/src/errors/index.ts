// The door of the errors.

export { ClientError, type ClientErrorOptions, isClientError } from "./client-error.ts";
