export { type ParseSkillOptions, parseSkill, type SkillText } from "./parse-skill.ts";
