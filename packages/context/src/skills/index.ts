export type { ToolNames } from "./allowed-tools.ts";
export { type LoadSkillsOptions, loadSkills } from "./load-skills.ts";
export { type ParseSkillOptions, parseSkill, type SkillText } from "./parse-skill.ts";
export type { InlineSkill, Skill, SkillPackage, SkillSource } from "./skill.ts";
export { type SkillsOptions, skills } from "./skills.ts";
