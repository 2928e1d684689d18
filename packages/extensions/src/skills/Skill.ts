/**
 * Contains the type of a skill on a server: the front matter, and the files with their digests and sizes. Also contains the errors
 * `SkillError` and `SkillChanged`. `SkillsServer` makes and serves skills. `Skills` has the type of the entries that clients get.
 *
 * @see https://agentskills.io/specification
 * @since 0.1.0
 */
import type { Fails } from "@effect-mcp/core/Feature"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Frontmatter } from "./Skills.js"

/**
 * A file of a skill.
 *
 * @category models
 */
export interface SkillFile<out R = never> {
  readonly uri: string
  readonly mimeType: string
  /**
   * The digest and the size in the entry of the skill. The member is `undefined` for a file whose content is generated each time a client
   * reads the file.
   */
  readonly stored: { readonly digest: string; readonly size: number } | undefined
  readonly read: Effect.Effect<Uint8Array, SkillChanged | Fails, R>
}

/**
 * A skill on a server. `R` are the services that the server needs to read the files.
 *
 * @category models
 */
export interface Skill<out R = never> {
  /** The URI of the skill's `SKILL.md`. */
  readonly uri: string
  readonly frontmatter: Frontmatter
  /**
   * The files of the skill. A directory below the skill can be another skill; its files are not in this list. But the entry that clients
   * get also has the files of the other skill.
   */
  readonly files: ReadonlyArray<SkillFile<R>>
  /** The URIs of directories of the skill that contain no file. */
  readonly emptyDirectories: ReadonlyArray<string>
}

/**
 * The error of a skill that the server cannot serve. The message names the file, and the line in the file if the line is known.
 *
 * @category errors
 */
export class SkillError extends Data.TaggedError("SkillError")<{
  readonly file: string
  /** The line in the file, counted from 1; `undefined` when the line is not known. */
  readonly line?: number | undefined
  readonly problem: string
}> {
  override get message(): string {
    return `${this.file}${this.line === undefined ? "" : `:${this.line}`}: ${this.problem}`
  }
}

/**
 * The error of a file that has changed since the server computed its digest. The client gets an error instead of the content.
 *
 * @category errors
 */
export class SkillChanged extends Data.TaggedError("SkillChanged")<{ readonly uri: string }> {
  override get message(): string {
    return `The file ${this.uri} has changed since the server read the skill`
  }
}
