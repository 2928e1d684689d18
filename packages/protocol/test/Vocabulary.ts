/**
 * Every schema that the package exports, by room and name.
 */
import * as Schema from "effect/Schema"
import * as Capabilities from "../src/Capabilities.js"
import * as Completion from "../src/Completion.js"
import * as Content from "../src/Content.js"
import * as Elicitation from "../src/Elicitation.js"
import * as ElicitationSchema from "../src/ElicitationSchema.js"
import * as Implementation from "../src/Implementation.js"
import * as Json from "../src/Json.js"
import * as LegacyElicitation from "../src/legacy/Elicitation.js"
import * as Initialize from "../src/legacy/Initialize.js"
import * as LegacySubscriptions from "../src/legacy/Subscriptions.js"
import * as Logging from "../src/Logging.js"
import * as Meta from "../src/Meta.js"
import * as Method from "../src/Method.js"
import * as Caching from "../src/modern/Caching.js"
import * as Discover from "../src/modern/Discover.js"
import * as Envelope from "../src/modern/Envelope.js"
import * as InputRequired from "../src/modern/InputRequired.js"
import * as Subscriptions from "../src/modern/Subscriptions.js"
import * as Pagination from "../src/Pagination.js"
import * as Progress from "../src/Progress.js"
import * as Prompts from "../src/Prompts.js"
import * as Resources from "../src/Resources.js"
import * as Roots from "../src/Roots.js"
import * as Sampling from "../src/Sampling.js"
import * as SamplingContent from "../src/SamplingContent.js"
import * as Tasks from "../src/Tasks.js"
import * as Text from "../src/Text.js"
import * as Tools from "../src/Tools.js"
import * as Version from "../src/Version.js"
import * as Sayings from "./Sayings.js"

const rooms: Readonly<Record<string, object>> = {
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
  Text,
  Tools,
  Version,
  "legacy/Elicitation": LegacyElicitation,
  "legacy/Initialize": Initialize,
  "legacy/Subscriptions": LegacySubscriptions,
  "modern/Caching": Caching,
  "modern/Discover": Discover,
  "modern/Envelope": Envelope,
  "modern/InputRequired": InputRequired,
  "modern/Subscriptions": Subscriptions
}

export const schemas: ReadonlyArray<readonly [name: string, schema: Schema.Schema<any>]> = [
  ...Object.entries(rooms).flatMap(([room, exports]) =>
    Object.entries(exports).flatMap(([name, value]) =>
      Schema.isSchema(value) ? [[`${room}.${name}`, value as Schema.Schema<any>] as const] : []
    )
  ),
  ...Sayings.modern.map((saying) => [saying.title, saying.schema] as const)
]
