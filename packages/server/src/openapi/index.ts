// Entry point of the OpenAPI document: schemas, and the document of a table of routes.
export { openApiDocument } from "./document.ts";
export { eventStream, json, reference, runStream } from "./schemas.ts";
