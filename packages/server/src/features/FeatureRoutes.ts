/**
 * The routes of everything that a server can offer: tools, resources, prompts, and the completion of their arguments.
 * Each era serves a client those whose capability was advertised to the client.
 */
import type { RegistryService } from "../Registry.js"
import type { Route } from "../runtime/Route.js"
import type { TaskRunner } from "../tasks/TaskRunner.js"
import * as Completion from "./Completion.js"
import * as Prompts from "./Prompts.js"
import * as Resources from "./Resources.js"
import * as Tools from "./Tools.js"

export const make = (
  registry: RegistryService,
  options: { readonly pageSize: number; readonly tasks: TaskRunner | undefined }
): ReadonlyArray<Route> => [
  ...Tools.routes(registry, options),
  ...Resources.routes(registry, options),
  ...Prompts.routes(registry, options),
  ...Completion.routes(registry)
]
