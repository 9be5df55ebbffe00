// The input of an operation out of path, query and body.
import type { HonoRequest } from 'hono'
import { type Endpoint, parametersOf } from '../contract/endpoint.ts'
import { Refusal } from './problem.ts'

const MOST_BYTES = 2_000_000

/** Throws a Refusal, or a ZodError that says which field is wrong. Unknown fields are refused: they are usually mistyped. */
export async function inputOf(
  request: HonoRequest,
  { method, path, input }: Endpoint,
): Promise<Record<string, unknown>> {
  const fields = method === 'GET' ? queryOf(request) : await bodyOf(request.raw)
  for (const name of parametersOf(path)) fields[name] = request.param(name)
  return input.strict().parse(fields)
}

function queryOf(request: HonoRequest): Record<string, unknown> {
  const fields: Record<string, unknown> = Object.create(null)
  for (const [name, values] of Object.entries(request.queries())) {
    if (values.length > 1) throw new Refusal(400, 'invalid_request', `The query names ${name} more than once.`)
    fields[name] = values[0]
  }
  return { ...fields }
}

async function bodyOf(request: Request): Promise<Record<string, unknown>> {
  const text = await textOf(request)
  if (text === '') return {}
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json\s*(;|$)/i.test(type))
    throw new Refusal(
      415,
      'json_needed',
      `The body is ${type || 'of no type'}: send JSON with \`Content-Type: application/json\`.`,
    )
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Refusal(400, 'invalid_json', `The body is not JSON: ${(error as Error).message}.`)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Refusal(400, 'invalid_request', 'The body must be a JSON object.')
  return { ...value }
}

/** A body of at most so many bytes: by default, as many as a payload may need. */
export async function textOf(request: Request, most = MOST_BYTES): Promise<string> {
  if (request.body === null) return ''
  const tooLarge = () => new Refusal(413, 'too_large', `The body is larger than ${most} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > most) throw tooLarge()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    if (bytes > most) throw tooLarge()
    chunks.push(chunk)
  }
  return new TextDecoder().decode(Buffer.concat(chunks))
}
