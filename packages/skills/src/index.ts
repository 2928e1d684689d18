/**
 * Skills for MCP: directories of instructions and files for a model, served and verified.
 *
 * @since 0.1.0
 */
export * as Skill from "./Skill.js"
export * as SkillRefused from "./SkillRefused.js"
export * as Skills from "./Skills.js"
