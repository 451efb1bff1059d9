// Entry point for packing and unpacking packages of agents.

export { type PackOptions, type PackResult, packAgents } from "./pack.ts";
export { type PackableSkill, type PackedSkill, packedSkills } from "./packed-skills.ts";
export { type UnpackResult, unpackAgents } from "./unpack.ts";
