// HTTP as the services of the sandbox see it: a call with its whole body, and an answer as a value.
import type { IncomingMessage, ServerResponse } from 'node:http'

export interface Call {
  readonly method: string
  /** Below the prefix of the service: '/v1/messages'. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

export interface Answer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

/** A service of the outside world that speaks HTTP, on a path of its own. */
export interface Service {
  answer(call: Call): Answer | Promise<Answer>
  /** How the real service says "too many requests". */
  limited(call: Call): Answer
}

const MOST_BYTES = 5 * 1024 * 1024

/** The body, or undefined if it is larger than any service here accepts. */
export async function bodyOf(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length
    if (bytes > MOST_BYTES) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks)
}

export function send(response: ServerResponse, { status, headers = {}, body = '' }: Answer): void {
  response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers }).end(body)
}

export const json = (status: number, value: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
  body: JSON.stringify(value),
})

export const text = (status: number, body: string, headers: Readonly<Record<string, string>> = {}): Answer => ({
  status,
  headers: { 'content-type': 'text/plain; charset=utf-8', ...headers },
  body,
})

/** The JSON object of a call, or undefined if there is none. */
export function objectOf({ body }: Call): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}

/** Text that strangers may have written, inside HTML. */
export const escaped = (value: string): string =>
  value.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`)
