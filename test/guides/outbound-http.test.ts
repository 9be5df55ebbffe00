import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type Egress, webhookSecret } from '@millrace/egress'
import type { Implementation, JobContract } from 'millrace'
import { expect, test } from 'vitest'
import { jobEvent, setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

interface Feeds {
  refreshFeed: JobContract
  refreshFeedHandler: Implementation
}
interface Send {
  sendWebhook(delivery: { id: string; url: string; secrets: string[]; event: unknown }): Promise<number>
}
interface Receive {
  receive(request: Request, secrets: string[]): Promise<Response>
}

async function startServer(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    target: `127.0.0.1:${(server.address() as { port: number }).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('the feed handler of the guide fetches, waits as it is told, and gives up on refused addresses', async () => {
  await using t = await setup()
  await using server = await startServer((request, response) => {
    if (request.url === '/busy') response.writeHead(429, { 'retry-after': '3600' }).end()
    else if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end()
    else response.end('<rss/>')
  })
  await using guide = await openDocument('docs/guides/outbound-http.md')
  const { egress } = await guide.load<{ egress: Egress }>('egress.ts', { EGRESS_ALLOW: server.target })
  await using _ = egress
  const { refreshFeed, refreshFeedHandler } = await guide.load<Feeds>('feeds.ts')
  const millrace = t.client([refreshFeed])
  await millrace.work({ handlers: [refreshFeedHandler] })
  const refresh = (path: string, etag?: string) =>
    millrace.enqueue(refreshFeed, { url: path.replace('SERVER', `http://${server.target}`), etag } as never)
  const resultOf = async (id: string) => (await millrace.result(id)) as unknown

  expect(await resultOf((await refresh('SERVER/feed')).id)).toMatchObject({ status: 'completed', result: { bytes: 6 } })
  expect(await resultOf((await refresh('SERVER/feed', '"1"')).id)).toMatchObject({ result: { bytes: 0 } })
  const inside = await refresh('http://169.254.169.254/latest/meta-data/')
  expect(await resultOf(inside.id)).toMatchObject({ status: 'dead' })
  const [attempt] = await millrace.attempts(inside.id)
  expect(attempt).toMatchObject({ attempt: 1, errorMessage: expect.stringContaining('a link-local address') })
  const busy = await refresh('SERVER/busy')
  expect(await jobEvent(millrace, 'job_snoozed', busy.id)).toBeDefined()
})

test('the guide’s sender and receiver of webhooks understand each other', async () => {
  await using guide = await openDocument('docs/guides/outbound-http.md')
  const { receive } = await guide.load<Receive>('receive-webhook.ts')
  const [fresh, old, other] = [webhookSecret(), webhookSecret(), webhookSecret()]
  await using server = await startServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const headers = new Headers(request.headers as Record<string, string>)
    const received = new Request('http://receiver/', { method: 'POST', headers, body: Buffer.concat(chunks) })
    const answer = await receive(received, request.url === '/other' ? [other] : [old])
    response.writeHead(answer.status).end(await answer.text())
  })
  const { egress } = await guide.load<{ egress: Egress }>('egress.ts', { EGRESS_ALLOW: server.target })
  await using _ = egress
  const { sendWebhook } = await guide.load<Send>('send-webhook.ts')
  const delivery = { id: 'delivery-1', secrets: [fresh, old], event: { order: 7 } }
  expect(await sendWebhook({ ...delivery, url: `http://${server.target}/` })).toBe(200)
  expect(await sendWebhook({ ...delivery, url: `http://${server.target}/other` })).toBe(400)
})
