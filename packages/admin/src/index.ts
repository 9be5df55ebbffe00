// The public surface, by name.
export { type AdminHandler, type AdminOptions, admin } from './server/admin.ts'
export type { OwnAuth, OwnCaller } from './server/auth.ts'
export type { Caller } from './server/caller.ts'
export { type NodeListener, nodeListener } from './server/node.ts'
export { openApiOf } from './server/openapi.ts'
export type { Page, PageContext } from './server/page.ts'
export { Refusal } from './server/problem.ts'
export { Answer, type CallContext, type Route, route } from './server/route.ts'
