// A collector: takes OTLP over HTTP, as JSON, and decodes what really arrives.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'

type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain }
type Attributes = Record<string, Plain>

export interface ReceivedSpan {
  name: string
  /** 4: PRODUCER, 5: CONSUMER. */
  kind: number
  traceId: string
  spanId: string
  parentSpanId: string | undefined
  attributes: Attributes
  events: { name: string; attributes: Attributes }[]
  links: { traceId: string; spanId: string }[]
  status: { code?: number; message?: string }
  resource: Attributes
}

interface Value {
  stringValue?: string
  intValue?: number | string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values?: Value[] }
}
interface KeyValue {
  key: string
  value: Value
}
interface Message {
  resourceSpans: {
    resource: { attributes: KeyValue[] }
    scopeSpans: { scope: { name: string }; spans: (Record<string, never> & RawSpan)[] }[]
  }[]
}
interface RawSpan extends Omit<ReceivedSpan, 'attributes' | 'events' | 'links' | 'resource'> {
  attributes: KeyValue[]
  events: { name: string; attributes: KeyValue[] }[]
  links: { traceId: string; spanId: string }[]
}

export async function otlpReceiver() {
  const spans: ReceivedSpan[] = []
  const bodies: string[] = []
  const headers: IncomingMessage['headers'][] = []
  let isStuck = false
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    // As a collector that has stopped answering.
    if (isStuck) return
    const body = Buffer.concat(chunks)
    const text = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString()
    if (request.url !== '/v1/traces' || request.headers['content-type'] !== 'application/json') {
      response.writeHead(404).end()
      return
    }
    bodies.push(text)
    headers.push(request.headers)
    spans.push(...decode(JSON.parse(text) as Message))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans,
    bodies,
    headers,
    stopAnswering: () => {
      isStuck = true
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function decode({ resourceSpans }: Message): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .filter(({ scope }) => scope.name === 'millrace' || scope.name === 'test')
      .flatMap(({ spans }) =>
        spans.map(({ name, kind, traceId, spanId, parentSpanId, attributes, events, links, status }) => ({
          ...{ name, kind, traceId, spanId, status },
          parentSpanId: parentSpanId || undefined,
          attributes: plain(attributes),
          events: events.map((event) => ({ name: event.name, attributes: plain(event.attributes) })),
          links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
          resource: plain(resource.attributes),
        })),
      ),
  )
}

const plain = (pairs: readonly KeyValue[] = []): Attributes =>
  Object.fromEntries(pairs.map(({ key, value }) => [key, plainValue(value)]))

function plainValue(value: Value): Plain {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plainValue)
  if (value.intValue !== undefined) return Number(value.intValue)
  return value.stringValue ?? value.doubleValue ?? value.boolValue ?? null
}
