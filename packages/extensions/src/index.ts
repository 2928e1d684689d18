/**
 * Extensions of the Model Context Protocol for Effect MCP: skills and apps.
 *
 * @since 0.1.0
 */
export * as AppView from "./apps/AppView.js"
export * as Apps from "./apps/Apps.js"
export * as Skill from "./skills/Skill.js"
export * as SkillRefused from "./skills/SkillRefused.js"
export * as Skills from "./skills/Skills.js"
