// Workers as real processes, killed before or while they send.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { mailServer, pagerDutyServer, slackServer } from './support/servers.ts'
import { setup } from './support/setup.ts'

const script = fileURLToPath(new URL('./fixtures/worker.js', import.meta.url))

interface Place {
  database: string
  url: string
  kind: 'pagerduty' | 'slack' | 'mail'
}

function start({ database, url, kind }: Place, moment: 'before' | 'never') {
  const child = spawn(process.execPath, [script, database, url, kind, moment], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => kill(child))
  let said = ''
  child.stdout.on('data', (chunk) => {
    said += String(chunk)
  })
  return { child, said: (text: string) => expect.poll(() => said).toContain(text) }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

test('a worker that is killed before it sends leaves a message that is delivered once', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const place = { database: t.url, url: server.url, kind: 'slack' } as const
  const first = start(place, 'before')
  await first.said('running')
  const millrace = t.client()
  await millrace.enqueueByType('order', {})
  await first.said('about to send')
  await kill(first.child)
  expect(server.received).toEqual([])
  start(place, 'never')
  await server.atLeast(1)
  await expect.poll(async () => (await millrace.escalations.list())[0]?.sentAt).toEqual(expect.any(Date))
  expect(server.received).toHaveLength(1)
})

test('a worker that is killed while it sends to PagerDuty leaves one incident', async () => {
  await using t = await setup()
  await using server = await pagerDutyServer()
  const place = { database: t.url, url: server.url, kind: 'pagerduty' } as const
  const first = start(place, 'never')
  await first.said('running')
  server.mode = 'silent'
  const millrace = t.client()
  await millrace.enqueueByType('order', {})
  await server.atLeast(1)
  await kill(first.child)
  server.mode = 'ok'
  start(place, 'never')
  await server.atLeast(2)
  await expect
    .poll(async () => (await millrace.escalations.list())[0])
    .toMatchObject({ sentAt: expect.any(Date), repeats: 1 })
  expect(server.incidents).toHaveLength(1)
})

test('a worker that is killed while it sends to Slack repeats the message under the same key, and the repeat is counted', async () => {
  await using t = await setup()
  await using server = await slackServer()
  const place = { database: t.url, url: server.url, kind: 'slack' } as const
  const first = start(place, 'never')
  await first.said('running')
  server.mode = 'silent'
  const millrace = t.client()
  await millrace.enqueueByType('order', {})
  await server.atLeast(1)
  await kill(first.child)
  server.mode = 'ok'
  start(place, 'never')
  const messages = await server.atLeast(2)
  await expect
    .poll(async () => (await millrace.escalations.list())[0])
    .toMatchObject({ sentAt: expect.any(Date), repeats: 1 })
  const [row] = await millrace.escalations.list()
  for (const message of messages) expect(JSON.stringify(message.blocks.at(-1))).toContain(row?.messageKey)
  expect(JSON.stringify(messages[1]?.blocks.at(-1))).toContain('Sent again, it may have arrived before')
})

test('a worker that is killed while it mails repeats the mail with the same Message-ID', async () => {
  await using t = await setup()
  await using server = await mailServer()
  const place = { database: t.url, url: server.url, kind: 'mail' } as const
  const first = start(place, 'never')
  await first.said('running')
  server.state.isSilent = true
  const millrace = t.client()
  await millrace.enqueueByType('order', {})
  await server.atLeast(1)
  await kill(first.child)
  server.state.isSilent = false
  start(place, 'never')
  const mails = await server.atLeast(2)
  expect(mails[0]?.messageId).toBe(mails[1]?.messageId)
  await expect
    .poll(async () => (await millrace.escalations.list())[0])
    .toMatchObject({ sentAt: expect.any(Date), repeats: 1 })
})
