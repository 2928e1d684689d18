/**
 * Every schema that the package exports, by module and name.
 */
import * as Capabilities from "@effect-mcp/core/protocol/Capabilities"
import * as Completion from "@effect-mcp/core/protocol/Completion"
import * as Content from "@effect-mcp/core/protocol/Content"
import * as Elicitation from "@effect-mcp/core/protocol/Elicitation"
import * as ElicitationSchema from "@effect-mcp/core/protocol/ElicitationSchema"
import * as Implementation from "@effect-mcp/core/protocol/Implementation"
import * as Json from "@effect-mcp/core/protocol/Json"
import * as Initialize from "@effect-mcp/core/protocol/legacy/Initialize"
import * as LegacySubscriptions from "@effect-mcp/core/protocol/legacy/Subscriptions"
import * as UrlElicitation from "@effect-mcp/core/protocol/legacy/UrlElicitation"
import * as Logging from "@effect-mcp/core/protocol/Logging"
import * as Meta from "@effect-mcp/core/protocol/Meta"
import * as Method from "@effect-mcp/core/protocol/Method"
import * as Caching from "@effect-mcp/core/protocol/modern/Caching"
import * as Discover from "@effect-mcp/core/protocol/modern/Discover"
import * as Envelope from "@effect-mcp/core/protocol/modern/Envelope"
import * as InputRequired from "@effect-mcp/core/protocol/modern/InputRequired"
import * as Subscriptions from "@effect-mcp/core/protocol/modern/Subscriptions"
import * as Pagination from "@effect-mcp/core/protocol/Pagination"
import * as Progress from "@effect-mcp/core/protocol/Progress"
import * as Prompts from "@effect-mcp/core/protocol/Prompts"
import * as Resources from "@effect-mcp/core/protocol/Resources"
import * as Roots from "@effect-mcp/core/protocol/Roots"
import * as Sampling from "@effect-mcp/core/protocol/Sampling"
import * as SamplingContent from "@effect-mcp/core/protocol/SamplingContent"
import * as Tasks from "@effect-mcp/core/protocol/Tasks"
import * as Tools from "@effect-mcp/core/protocol/Tools"
import * as Version from "@effect-mcp/core/protocol/Version"
import * as Schema from "effect/Schema"
import * as TextFormats from "../../src/protocol/schema/TextFormats.js"
import * as MessageParts from "./MessageParts.js"

const modules: Readonly<Record<string, object>> = {
  Capabilities,
  Completion,
  Content,
  Elicitation,
  ElicitationSchema,
  Implementation,
  Json,
  Logging,
  Meta,
  Method,
  Pagination,
  Progress,
  Prompts,
  Resources,
  Roots,
  Sampling,
  SamplingContent,
  Tasks,
  TextFormats,
  Tools,
  Version,
  "legacy/UrlElicitation": UrlElicitation,
  "legacy/Initialize": Initialize,
  "legacy/Subscriptions": LegacySubscriptions,
  "modern/Caching": Caching,
  "modern/Discover": Discover,
  "modern/Envelope": Envelope,
  "modern/InputRequired": InputRequired,
  "modern/Subscriptions": Subscriptions
}

export const schemas: ReadonlyArray<readonly [name: string, schema: Schema.Schema<any>]> = [
  ...Object.entries(modules).flatMap(([module, exports]) =>
    Object.entries(exports).flatMap(([name, value]) =>
      Schema.isSchema(value) ? [[`${module}.${name}`, value as Schema.Schema<any>] as const] : []
    )
  ),
  ...MessageParts.modern.map((messagePart) => [messagePart.title, messagePart.schema] as const)
]
