// The OpenAPI 3.1 document, made of the endpoints.
import { z } from 'zod'
import { type Endpoint, parametersOf } from '../contract/endpoint.ts'

export interface NamedEndpoint {
  readonly name: string
  readonly topic: string
  readonly endpoint: Endpoint
}

type Json = Record<string, unknown>

const problem = {
  type: 'object',
  required: ['type', 'title', 'status', 'code', 'detail', 'requestId'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer' },
    code: { type: 'string', description: 'As the engine calls it, such as job_not_found' },
    detail: { type: 'string', description: 'What happened, what was expected, what to do' },
    requestId: { type: 'string', description: 'The log and the audit log have it, too' },
    issues: { type: 'array', items: { type: 'object' } },
  },
}

export function openApiOf(endpoints: readonly NamedEndpoint[], { basePath = '', version = '0.1.0' } = {}): Json {
  const paths: Record<string, Json> = {}
  for (const each of endpoints) {
    const path = each.endpoint.path.replace(/:(\w+)/g, '{$1}')
    paths[path] = { ...paths[path], [each.endpoint.method.toLowerCase()]: operationOf(each) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Millrace admin API', version, license: { name: 'MIT', identifier: 'MIT' } },
    ...(basePath && { servers: [{ url: basePath }] }),
    tags: [...new Set(endpoints.map(({ topic }) => topic))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { token: { type: 'http', scheme: 'bearer' } },
      schemas: { Problem: problem },
      responses: {
        Problem: {
          description: 'It was refused or failed',
          content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
        },
      },
    },
  }
}

function operationOf({ name, topic, endpoint }: NamedEndpoint): Json {
  const { method, path, input, output, permission, scope, summary, description, status = 200, media } = endpoint
  const inPath = parametersOf(path)
  const { properties, required } = objectSchema(input)
  const others = Object.keys(properties).filter((key) => !inPath.includes(key))
  const access = permission === 'public' ? 'For everybody.' : `Needs the role ${permission}.`
  const scoped = scope === 'tenant' ? '' : ' Refused to tokens that are limited to tenants.'
  return {
    operationId: name,
    tags: [topic],
    summary,
    description: [description, `${access}${scoped}`].filter(Boolean).join('\n\n'),
    security: permission === 'public' ? [] : [{ token: [] }],
    parameters: [
      ...inPath.map((key) => ({
        name: key,
        in: 'path',
        required: true,
        schema: properties[key] ?? { type: 'string' },
      })),
      ...(method === 'GET' ? others : []).map((key) => ({
        name: key,
        in: 'query',
        required: required.includes(key),
        schema: properties[key],
      })),
    ],
    ...(method !== 'GET' && others.length > 0 && { requestBody: bodyOf(others, properties, required) }),
    responses: {
      [status]: { description: 'Done', content: { [media ?? 'application/json']: { schema: jsonSchema(output) } } },
      default: { $ref: '#/components/responses/Problem' },
    },
  }
}

function bodyOf(keys: readonly string[], properties: Json, required: readonly string[]): Json {
  const schema = {
    type: 'object',
    properties: Object.fromEntries(keys.map((key) => [key, properties[key]])),
    ...(keys.some((key) => required.includes(key)) && { required: keys.filter((key) => required.includes(key)) }),
  }
  return { required: true, content: { 'application/json': { schema } } }
}

/** Answers may gain keys, so objects stay open: that is what the input of a schema says. */
export function jsonSchema(schema: z.ZodType): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' }) as Json
  return rest
}

export function objectSchema(schema: z.ZodObject): { properties: Record<string, Json>; required: string[] } {
  const { properties = {}, required = [] } = jsonSchema(schema)
  return { properties: properties as Record<string, Json>, required: required as string[] }
}
