/**
 * The types of resources: how a server lists resources and templates, how a client reads a resource, and how a server notifies a client of
 * a change. The subscription to changes differs between the two protocol eras: see `legacy/Subscriptions` (revisions up to 2025-11-25) and
 * `modern/Subscriptions` (revision 2026-07-28). `Content` has the contents of resources and the links to resources.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Annotations, ResourceContents, resourceFields } from "./Content.js"
import { iconFields, nameFields } from "./Implementation.js"
import * as Meta from "./Meta.js"
import { pageFields } from "./Pagination.js"
import { harmless, nullAs, sieved } from "./schema/Mendable.js"
import { since } from "./schema/Since.js"
import { Uri, UriTemplate } from "./schema/TextFormats.js"

/** @category models */
export interface Resource extends Schema.Schema.Type<typeof Resource> {}

/** @category schemas */
export const Resource = Schema.Struct(resourceFields)

/** @category models */
export interface ResourceTemplate extends Schema.Schema.Type<typeof ResourceTemplate> {}

/** @category schemas */
export const ResourceTemplate = Schema.Struct({
  ...nameFields,
  ...iconFields,
  uriTemplate: UriTemplate,
  description: harmless(Schema.optional(Schema.String)),
  /** The media type of the resources. Present only if all resources of the template have the same media type. */
  mimeType: harmless(Schema.optional(Schema.String)),
  annotations: harmless(Schema.optional(Annotations)),
  _meta: since("2025-06-18", Meta.any._meta)
})

/** @category models */
export interface ListResourcesResult extends Schema.Schema.Type<typeof ListResourcesResult> {}

/** @category schemas */
export const ListResourcesResult = Schema.Struct({
  resources: nullAs([], sieved(Schema.Array(Resource))),
  ...pageFields
})

/** @category models */
export interface ListResourceTemplatesResult extends Schema.Schema.Type<typeof ListResourceTemplatesResult> {}

/** @category schemas */
export const ListResourceTemplatesResult = Schema.Struct({
  resourceTemplates: nullAs([], sieved(Schema.Array(ResourceTemplate))),
  ...pageFields
})

/** @category models */
export interface ReadResourceParams extends Schema.Schema.Type<typeof ReadResourceParams> {}

/** @category schemas */
export const ReadResourceParams = Schema.Struct({ uri: Uri, ...Meta.request })

/** @category models */
export interface ReadResourceResult extends Schema.Schema.Type<typeof ReadResourceResult> {}

/** @category schemas */
export const ReadResourceResult = Schema.Struct({
  /** The contents. There are several when the URI names a group of resources, such as a folder. */
  contents: nullAs([], Schema.Array(ResourceContents)),
  ...Meta.any
})

/** @category models */
export interface ResourceUpdated extends Schema.Schema.Type<typeof ResourceUpdated> {}

/**
 * The parameters of `notifications/resources/updated`.
 *
 * @category schemas
 */
export const ResourceUpdated = Schema.Struct({
  /** The URI of the subscribed resource, or of a resource below it. */
  uri: Uri,
  ...Meta.any
})
