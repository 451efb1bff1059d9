// Entry point of the errors.
export { ClientError, isClientError } from "./client-error.ts";
