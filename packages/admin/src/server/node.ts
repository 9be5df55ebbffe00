// The handler as a listener of Node's http server, for Express, Fastify and servers of your own.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { AdminHandler } from './admin.ts'

export type NodeListener = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function nodeListener(handler: AdminHandler): NodeListener {
  const listener = getRequestListener((request, env) => handler.fetch(request, env), { overrideGlobalObjects: false })
  return async (request, response) => {
    await listener(request, response)
  }
}
