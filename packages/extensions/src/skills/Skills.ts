/**
 * The types and schemas of the extension `io.modelcontextprotocol/skills`. A skill is a directory with instructions and files for a model.
 * A server lists its skills. In the list, each skill has an entry with the digest and the size of each file of the skill. A client reads
 * the files as resources.
 *
 * `SkillsServer` serves skills. `SkillsClient` reads and verifies skills. Import only the module that your program needs.
 *
 * @see https://modelcontextprotocol.io/seps/2640-skills-extension
 * @since 0.1.0
 */
import * as Extension from "@effect-mcp/core/protocol/Extension"
import { Integer } from "@effect-mcp/core/protocol/Json"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import { PaginatedParams } from "@effect-mcp/core/protocol/Pagination"
import { ListResourcesResult, Resource } from "@effect-mcp/core/protocol/Resources"
import * as Schema from "effect/Schema"

const Uri = Resource.fields.uri

/** @category models */
export interface SkillResource extends Schema.Schema.Type<typeof SkillResource> {}

/**
 * A file in the entry of a skill.
 *
 * @category schemas
 */
export const SkillResource = Schema.Struct({
  uri: Uri,
  /** The digest of the bytes of the file: `sha256:` and 64 lowercase hexadecimal digits. */
  digest: Schema.String,
  /** The size of the file, in bytes. */
  size: Integer
})

/** @category models */
export interface Frontmatter extends Schema.Schema.Type<typeof Frontmatter> {}

/**
 * The front matter, which is the YAML at the beginning of `SKILL.md`, as JSON. The JSON has all fields that the author has written.
 *
 * @category schemas
 */
export const Frontmatter = Schema.Struct(
  { name: Schema.String, description: Schema.String },
  { key: Schema.String, value: Schema.Unknown }
)

/** @category models */
export interface Skill extends Schema.Schema.Type<typeof Skill> {}

/**
 * The entry of a skill in the answers to `skills/list` and `skills/get`.
 *
 * @category schemas
 */
export const Skill = Schema.Struct({
  /** The URI of the skill's `SKILL.md`. */
  uri: Uri,
  frontmatter: Frontmatter,
  /**
   * All files of the skill, including `SKILL.md`. The value is `dynamic` for a skill with generated content, because such content has no
   * digest.
   */
  resources: Schema.Union(Schema.Array(SkillResource), Schema.Literal("dynamic"))
})

/** The caching hints in results of revision 2026-07-28 or later. */
const hintFields = {
  ttlMs: Schema.optional(Schema.Finite),
  cacheScope: Schema.optional(Schema.Literal("public", "private"))
}

const UriParams = { uri: Uri, ...Meta.request }

/**
 * The extension `io.modelcontextprotocol/skills`. In its settings a server declares whether it answers `resources/directory/read`.
 *
 * @category constants
 */
export const extension = Extension.make("io.modelcontextprotocol/skills", {
  settings: { server: Schema.Struct({ directoryRead: Schema.optional(Schema.Boolean) }) },
  requests: {
    list: Extension.request("skills/list", {
      declaredBy: "server",
      isCacheable: true,
      params: PaginatedParams,
      result: Schema.Struct({
        skills: Schema.Array(Skill),
        nextCursor: Schema.optional(Schema.String),
        ...hintFields,
        ...Meta.any
      })
    }),
    get: Extension.request("skills/get", {
      declaredBy: "server",
      isCacheable: true,
      params: Schema.Struct(UriParams),
      result: Schema.Struct({ skill: Skill, ...hintFields, ...Meta.any })
    }),
    readDirectory: Extension.request("resources/directory/read", {
      declaredBy: "server",
      params: Schema.Struct({ ...UriParams, cursor: Schema.optional(Schema.String) }),
      result: ListResourcesResult
    })
  }
})

/**
 * The file at the root of every skill.
 *
 * @category constants
 */
export const FILE = "SKILL.md"

/**
 * The media type of a directory in the answer to `resources/directory/read`.
 *
 * @category constants
 */
export const DIRECTORY = "inode/directory"

/**
 * The sizes of skills that every client must accept: at most 512 files and 16 MiB. Clients may refuse larger skills.
 *
 * @category constants
 */
export const limits = { files: 512, bytes: 16 * 1024 * 1024 } as const

/**
 * Returns whether a name follows the rules of Agent Skills. A name has at most 64 lowercase letters, digits and single hyphens, and begins
 * and ends with a letter or a digit.
 *
 * @see https://agentskills.io/specification#name-field
 * @category guards
 */
export const isName = (name: string): boolean => /^(?!.*--)[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/.test(name)
