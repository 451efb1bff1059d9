// Packages of agents, made and taken apart.
export { type PackOptions, type PackResult, packAgents } from "./pack.ts";
export { type UnpackResult, unpackAgents } from "./unpack.ts";
