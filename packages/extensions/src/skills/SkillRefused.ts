/**
 * Contains the error `SkillRefused`, with which a client refuses a skill or a file of a skill. The application does not get the refused
 * content. `SkillsClient` and `SkillCheck` make this error. `Reason` lists the reasons.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension#integrity-and-verification
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * - `Entry`: the entry of the skill breaks a rule of the extension.
 * - `TooLarge`: the skill has more files or bytes than this client accepts.
 * - `Dynamic`: the content of the skill is generated, so that its entry has no digests, and the option `allowDynamic` is not `true`.
 * - `Unlisted`: the entry of the skill does not have the file that the application wants to read.
 * - `Content`: the answer of the server is not exactly the file that the client has requested, or is not base64.
 * - `Size`: the size of the content differs from the entry, or generated content exceeds the option `maxBytes`.
 * - `Digest`: the digest of the content differs from the entry.
 * - `FrontMatter`: the front matter of `SKILL.md` is not valid, is too long, or differs from the entry.
 * - `Directory`: the answer of `readDirectory` has a resource that is not in the directory.
 *
 * @category models
 */
export type Reason =
  | "Entry"
  | "TooLarge"
  | "Dynamic"
  | "Unlisted"
  | "Content"
  | "Size"
  | "Digest"
  | "FrontMatter"
  | "Directory"

/**
 * The error of a client that has refused a skill or a file of a skill.
 *
 * @category errors
 */
export class SkillRefused extends Data.TaggedError("SkillRefused")<{
  readonly reason: Reason
  /** The URI of the skill or the file, as the server or the application wrote it. */
  readonly uri: string
  readonly problem: string
}> {
  override get message(): string {
    return `${this.uri.length > 128 ? `${this.uri.slice(0, 128)}…` : this.uri}: ${this.problem}`
  }
}
