// Servers that speak the protocols of the channels, and enforce the limits that their operators publish.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer } from 'smtp-server'

type Mode = 'ok' | 'down' | 'silent' | 'gone'

interface HttpService<Received> extends AsyncDisposable {
  readonly url: string
  /** host:port, for the allow-list of the guarded fetch. */
  readonly address: string
  readonly received: Received[]
  /** What was refused, and why. */
  readonly refused: string[]
  /** down: 503; silent: it takes the request and never answers; gone: 404. */
  mode: Mode
  /** How the next requests are answered, one each, before `mode` counts again. */
  readonly next: Mode[]
  /** Resolves when so many were received. */
  atLeast(count: number): Promise<Received[]>
}

interface Answer {
  status: number
  body: string
  headers?: Record<string, string>
}

async function httpService<Received>(
  accept: (body: Buffer, request: IncomingMessage) => Answer & { received?: Received },
): Promise<HttpService<Received>> {
  const received: Received[] = []
  const refused: string[] = []
  const waiting = new Set<() => void>()
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const mode = service.next.shift() ?? service.mode
    if (mode === 'down') return end(response, { status: 503, body: 'service_unavailable' })
    if (mode === 'gone') return end(response, { status: 404, body: 'no_service' })
    const answer = accept(Buffer.concat(chunks), request)
    if (answer.received === undefined) refused.push(`${answer.status} ${answer.body}`)
    else received.push(answer.received)
    for (const wake of waiting) wake()
    if (mode !== 'silent') end(response, answer)
  })
  const port = await listen(server)
  const service: HttpService<Received> = {
    ...{ received, refused, mode: 'ok' as Mode, next: [] },
    url: `http://127.0.0.1:${port}/hook`,
    address: `127.0.0.1:${port}`,
    async atLeast(count) {
      while (received.length < count) await new Promise<void>((resolve) => waiting.add(resolve))
      return received
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return service
}

function end(response: ServerResponse, { status, body, headers = {} }: Answer): void {
  response.writeHead(status, headers).end(body)
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

export interface PagerDutyEvent {
  routing_key: string
  event_action: 'trigger' | 'acknowledge' | 'resolve'
  dedup_key: string
  links?: { href: string; text: string }[]
  payload?: { summary: string; source: string; severity: string; custom_details: Record<string, unknown> }
}

/** Incidents as PagerDuty would have them: one open incident for a dedup_key. */
export async function pagerDutyServer() {
  const open = new Map<string, 'triggered' | 'acknowledged'>()
  const incidents: string[] = []
  const service = await httpService<PagerDutyEvent>((body) => {
    const invalid = (why: string) => ({ status: 400, body: JSON.stringify({ status: 'invalid event', message: why }) })
    if (body.length > 512 * 1024) return { status: 413, body: 'too large' }
    const event = JSON.parse(body.toString()) as PagerDutyEvent
    if (!/^\w{32}$/.test(event.routing_key)) return invalid('routing_key')
    if (!event.dedup_key || event.dedup_key.length > 255) return invalid('dedup_key')
    if (event.event_action === 'trigger') {
      const { summary = '', source = '', severity = '' } = event.payload ?? {}
      if (summary === '' || summary.length > 1_024 || source === '') return invalid('payload')
      if (!['critical', 'error', 'warning', 'info'].includes(severity)) return invalid('severity')
      if (!open.has(event.dedup_key)) incidents.push(event.dedup_key)
      open.set(event.dedup_key, 'triggered')
    } else if (event.event_action === 'acknowledge') {
      if (open.has(event.dedup_key)) open.set(event.dedup_key, 'acknowledged')
    } else open.delete(event.dedup_key)
    return { status: 202, body: '{"status":"success"}', received: event }
  })
  return Object.assign(service, { open, incidents })
}

export interface SlackMessage {
  text: string
  blocks: { type: string; text?: { text: string }; elements?: { text: string }[] }[]
  atMs: number
}

/** One message a second, 50 blocks, 3000 characters a section, 150 a header. */
export function slackServer() {
  let lastMs = 0
  return httpService<SlackMessage>((body) => {
    const nowMs = performance.now()
    if (nowMs - lastMs < 1_000 && lastMs > 0)
      return { status: 429, body: 'rate_limited', headers: { 'retry-after': '1' } }
    const message = JSON.parse(body.toString()) as SlackMessage
    const { blocks = [], text } = message
    const isTooLong = blocks.some(
      (block) => (block.text?.text.length ?? 0) > (block.type === 'header' ? 150 : 3_000) || block.text?.text === '',
    )
    if (!text || blocks.length > 50 || isTooLong) return { status: 400, body: 'invalid_blocks' }
    lastMs = nowMs
    return { status: 200, body: 'ok', received: { ...message, atMs: nowMs } }
  })
}

export interface WebhookCall {
  headers: IncomingMessage['headers']
  body: string
}

export const webhookServer = () =>
  httpService<WebhookCall>((body, { headers }) => ({
    ...{ status: 200, body: 'ok' },
    received: { headers, body: body.toString() },
  }))

export async function mailServer() {
  const mails: Email[] = []
  const waiting = new Set<() => void>()
  const state = { refuses: false, isSilent: false }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onRcptTo(_address, _session, callback) {
      if (state.refuses) callback(Object.assign(new Error('mailbox unavailable'), { responseCode: 550 }))
      else callback()
    },
    onData(stream, _session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        mails.push(await new PostalMime().parse(Buffer.concat(chunks)))
        for (const wake of waiting) wake()
        if (!state.isSilent) callback()
      })
    },
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as AddressInfo
  return {
    ...{ mails, state, url: `smtp://127.0.0.1:${port}` },
    async atLeast(count: number): Promise<Email[]> {
      while (mails.length < count) await new Promise<void>((resolve) => waiting.add(resolve))
      return mails
    },
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
