// Entry point of @holdfast/cloudflare: sessions in Durable Objects, and the Worker in front of them.
export { directoryObject } from "./directory.ts";
export { type EdgeHandler, type EdgeHandlerOptions, edgeHandler } from "./edge-handler.ts";
export { type EdgeServiceOptions, edgeService } from "./edge-service.ts";
export { type ObjectHostOptions, objectHost } from "./object-host.ts";
export type { ObjectNamespace, ObjectState, ObjectStorage, ObjectStub } from "./platform.ts";
export { type SessionObject, type SessionObjectOptions, sessionObject } from "./session-object.ts";
