// The typed client of the admin API. It knows methods and paths; the schemas stay on the server.

import table from 'virtual:operations'
import { type AdminClient, call, type Endpoint, type Role } from '@millrace/admin/contract'
import { basePath } from './base.ts'
import { logInAgain } from './login.ts'

export interface Operation {
  readonly name: string
  readonly permission: Role | 'public'
  readonly scope: 'tenant' | 'all'
}

const endpoints = new Map(
  table.map(([name, method, path, permission, scope]) => [
    name,
    { name, method, path, permission, scope } as unknown as Operation & Endpoint,
  ]),
)

/** Of the contract, such as 'jobs.retry'. */
export function operationNamed(name: string): Operation {
  const found = endpoints.get(name)
  if (found === undefined) throw new TypeError(`There is no operation "${name}" in the contract.`)
  return found
}

/** Below the base path, for a link: '/admin/api/jobs.csv'. */
export const pathOf = (name: string): string => (operationNamed(name) as Operation & Endpoint).path

/** `api.jobs.list({ status: 'dead' })`. Throws AdminError, whose message is a sentence for people. */
export const api = clientOf()

function clientOf(): AdminClient {
  const topics: Record<string, Record<string, (input?: object) => Promise<unknown>>> = {}
  for (const [name, endpoint] of endpoints) {
    const [topic = '', verb = ''] = name.split('.')
    topics[topic] ??= {}
    topics[topic][verb] = (input = {}) => call({ baseUrl: basePath, fetch: withLogin }, endpoint, input as never)
  }
  return topics as unknown as AdminClient
}

/** A session that has ended leads to the login, and from there back to this URL. */
async function withLogin(input: RequestInfo | URL, options?: RequestInit): Promise<Response> {
  const response = await fetch(input, options)
  if (response.status === 401) logInAgain()
  return response
}
