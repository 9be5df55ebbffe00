// Who may call: the caller, and the tokens.
import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { duration, name, time } from './fields.ts'

const role = z.enum(['viewer', 'operator', 'admin'])

const token = z.object({
  id: z.string(),
  name: z.string(),
  role,
  tenants: z.array(z.string()).nullable(),
  createdAt: time,
  createdBy: z.string(),
  expiresAt: time.nullable(),
  lastUsedAt: time.nullable(),
  revokedAt: time.nullable(),
  revokedBy: z.string().nullable(),
})

export const me = endpoint({
  method: 'GET',
  path: '/admin/api/me',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Say who is calling, and what they may do',
  input: z.object({}),
  output: z.object({
    name: z.string(),
    role,
    tenants: z.array(z.string()).nullable(),
    via: z.enum(['token', 'session', 'own', 'development']),
    environment: z.string().nullable().describe('MILLRACE_ENVIRONMENT of the server'),
    pages: z
      .array(z.object({ path: z.string(), title: z.string() }))
      .describe('Of the program; those the caller may see'),
  }),
})

export const openApi = endpoint({
  method: 'GET',
  path: '/admin/api/openapi.json',
  permission: 'viewer',
  scope: 'tenant',
  summary: 'Get this API as an OpenAPI 3.1 document',
  input: z.object({}),
  output: z.looseObject({ openapi: z.string() }),
})

export const tokens = endpoint({
  method: 'GET',
  path: '/admin/api/tokens',
  permission: 'admin',
  scope: 'all',
  summary: 'List the tokens, newest first; revoked and expired ones for 30 days',
  input: z.object({}),
  output: z.object({ tokens: z.array(token) }),
})

export const createToken = endpoint({
  method: 'POST',
  path: '/admin/api/tokens',
  permission: 'admin',
  scope: 'all',
  status: 201,
  summary: 'Create a token; its secret is shown in this answer and never again',
  input: z.object({
    name,
    role: role.optional(),
    tenants: z.array(name).min(1).optional(),
    expiresIn: duration.optional(),
  }),
  output: z.object({ secret: z.string(), token }),
})

export const revokeToken = endpoint({
  method: 'POST',
  path: '/admin/api/tokens/:name/revoke',
  permission: 'admin',
  scope: 'all',
  summary: 'Revoke a token and end the sessions that it opened',
  input: z.object({ name }),
  output: z.object({ revoked: z.literal(true) }),
})
