// The commands that also work through a remote admin API say the same there as with the database.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { admin, nodeListener } from '@millrace/admin'
import { defineJob, defineQueues, implement, Unrecoverable } from 'millrace'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { saidBy } from './support/in-process.ts'
import { ran } from './support/program.ts'
import { setup } from './support/setup.ts'

const queues = defineQueues({
  mail: { concurrency: 2, title: 'Outgoing mail', owner: { name: 'Post', address: 'post@example.com' }, sla: '30s' },
  bulk: { concurrency: 1 },
})
const letter = defineJob({
  type: 'letter',
  queue: queues.mail,
  payload: z.object({ to: z.string(), at: z.string().optional() }),
  result: z.object({ sentTo: z.string() }),
  logs: 'keep',
})
const parcel = defineJob({ type: 'parcel', queue: queues.bulk, payload: z.object({}) })

/** Not as a Date would write it: a payload is not the server's to read. */
const TIME = '2026-01-31T08:00:00Z'

let t: Awaited<ReturnType<typeof setup>>
let api: Awaited<ReturnType<typeof served>>
let tokens: Record<'viewer' | 'operator' | 'admin', string>
let workerId: string
const jobs: Record<'done' | 'dead' | 'waiting', string> = { done: '', dead: '', waiting: '' }
const letters: string[] = []

async function served(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

beforeAll(async () => {
  t = await setup({ jobs: [letter, parcel] })
  const { millrace } = t
  const send = implement(letter, async ({ to }, ctx) => {
    await ctx.step('stamp', () => 1)
    ctx.log.warn({ to }, 'going out')
    if (to === 'nobody') throw new Unrecoverable('no such address')
    return { sentTo: to }
  })
  const worker = await millrace.work({ handlers: [send], lease: { heartbeat: '60s', ttl: '300s', sweep: '60s' } })
  workerId = worker.id
  for (const to of ['ann', 'nobody', 'nobody']) {
    const { id } = await millrace.enqueue(letter, { to, at: TIME }, { tenant: 'acme', correlationId: `for ${to}` })
    await millrace.result(id)
    jobs[to === 'ann' ? 'done' : 'dead'] = id
  }
  letters.push(...(await millrace.deadLetters.list()).map(({ id }) => id))
  jobs.waiting = (await millrace.enqueue(parcel, {}, { delay: '1h' })).id
  await millrace.pauses.pause({ queue: 'bulk' }, { by: 'bob', reason: 'no van' })
  const token = async (role: 'viewer' | 'operator' | 'admin') =>
    (await millrace.tokens.create({ name: `${role} token`, role, by: 'test' })).secret
  tokens = { viewer: await token('viewer'), operator: await token('operator'), admin: await token('admin') }
  const handler = admin(millrace)
  api = await served(nodeListener(handler))
})
afterAll(async () => {
  await api[Symbol.asyncDispose]()
  await t[Symbol.asyncDispose]()
})
// "3s ago" must not become "4s ago" between two looks.
beforeEach(() => {
  const now = Date.now()
  vi.spyOn(Date, 'now').mockReturnValue(now)
})

const locally = (...args: string[]) =>
  saidBy(args, { ...t.env, MILLRACE_ADMIN_URL: undefined, MILLRACE_ADMIN_TOKEN: undefined })
const remotely = (...args: string[]) => remotelyAs(tokens.admin, ...args)
const remotelyAs = (token: string, ...args: string[]) =>
  saidBy([...args, '--admin-url', api.url], {
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    MILLRACE_ADMIN_TOKEN: token,
  })

/** What a living worker declares was seen just now, whenever one looks. */
const lasting = (json: string): string => json.replace(/"lastSeen": ".*?"/g, '"lastSeen": "now"')

describe('looking', () => {
  test.each([
    ['jobs'],
    ['jobs --where status:dead --limit 1'],
    ['jobs --status pending'],
    ['jobs --where payload.to:ann --oldest --timeout 5s'],
    ['jobs --type letter --count'],
    ['jobs --where tenant:nobody'],
    ['job DONE'],
    ['job DEAD'],
    ['job WAITING'],
    ['explain DEAD'],
    ['explain WAITING'],
    ['queues'],
    ['stats'],
    ['stats --since 24h --queue mail'],
    ['stats --since 24h --by hour'],
    ['workers'],
    ['pauses'],
    ['dead'],
    ['dead list --status any --type letter --limit 1'],
    ['dead groups'],
    ['dead counts'],
    ['dead show LETTER'],
  ])('%s', async (line) => {
    const args = line
      .replace('DONE', jobs.done)
      .replace('DEAD', jobs.dead)
      .replace('WAITING', jobs.waiting)
      .replace('LETTER', letters[0] ?? '')
      .split(' ')
    const here = await locally(...args)
    expect(here).toMatchObject({ code: 0, err: '' })
    expect(here.out.length).toBeGreaterThan(1)
    // The hint for the next page repeats the options.
    const there = await remotely(...args)
    expect({ ...there, out: there.out.replace(` --admin-url ${api.url}`, '') }).toEqual(here)
    expect(lasting((await remotely(...args, '--json')).out)).toBe(lasting((await locally(...args, '--json')).out))
  })

  test.each([
    ['job 999999'],
    ['job nonsense'],
    ['dead show 999999'],
    ['jobs --where stauts:dead'],
    ['jobs --before nonsense'],
    ['workers quiet ffff-none --reason x'],
    ['pause --queue bluk --reason x'],
  ])('a refusal is the same: %s', async (line) => {
    const here = await locally(...line.split(' '))
    expect(here.code).toBe(1)
    expect(await remotely(...line.split(' '))).toEqual(here)
  })
})

describe('changing', () => {
  test('enqueue, with a dedup key and with --wait', async () => {
    const later = ['enqueue', 'letter', '{"to":"ann"}', '--delay', '1h', '--dedup-key', 'k', '--tenant', 'acme']
    const { out } = await remotely(...later)
    const [, id = ''] = /^Job (\d+) is enqueued\.\n$/.exec(out) ?? []
    expect(await t.millrace.job(id)).toMatchObject({ dedupKey: 'k', tenant: 'acme', createdBy: 'admin token' })
    expect(await locally(...later)).toEqual(await remotely(...later))
    const wrong = await remotely('enqueue', 'letter', '{"to":7}')
    expect(wrong).toMatchObject({ code: 1, err: expect.stringMatching(/^error: The payload of job "letter".* to: /) })
    expect((await remotely('enqueue', 'lettre')).err).toMatch(/^error: .*"lettre".*letter/)
    const wait = (to: string) => ['enqueue', 'letter', JSON.stringify({ to }), '--wait']
    expect(await remotely(...wait('cleo'))).toMatchObject({ code: 0, out: '{\n  "sentTo": "cleo"\n}\n' })
    const dead = await remotely(...wait('nobody'))
    expect(dead).toMatchObject({ code: 2, out: expect.stringMatching(/is dead \(unrecoverable\): no such address\n$/) })
    const late = await remotely(...later.slice(0, 5), '--wait', '--timeout', '10ms', '--json')
    expect(late).toMatchObject({ code: 3, out: expect.stringContaining('"status": "unfinished"') })
  })

  test('pause and resume, in the name of the token', async () => {
    const target = ['--queue', 'bulk']
    const paused = await remotely('pause', ...target, '--reason', 'stocktaking', '--for', '1h')
    expect(paused).toMatchObject({ code: 0, out: 'Paused: queue bulk. It ends in 1h.\n' })
    expect(await t.millrace.pauses.list()).toMatchObject([{ by: 'bob' }, { by: 'admin token', reason: 'stocktaking' }])
    const ended = await remotely('resume', ...target)
    expect(ended.out).toMatch(/^Ended the pause by admin token\. Still paused: queue bulk\..*\n.*\n.*bob +no van\n/)
    expect(await remotely('resume', ...target)).toMatchObject({
      code: 1,
      out: expect.stringContaining('no pause by admin token'),
    })
    expect(await remotely('resume', ...target, '--by', 'bob')).toMatchObject({
      code: 1,
      err: expect.stringContaining('--by needs the database: the server writes down the name of the token'),
    })
  })

  test('dead letters: decisions, notes, a redrive and a prune', async () => {
    const [first = '', second = ''] = letters
    expect((await remotely('dead', 'acknowledge', first, '999999')).code).toBe(1)
    const again = ['dead', 'acknowledge', first, '--json']
    expect(await remotely(...again)).toEqual(await locally(...again))
    await remotely('dead', 'note', first, 'asked the post office')
    await remotely('dead', 'resolve', first, '--note', 'sent by hand')
    expect(await t.millrace.deadLetters.get(first)).toMatchObject({
      status: 'resolved',
      acknowledgedBy: 'admin token',
      notes: expect.stringMatching(/asked the post office.*sent by hand/s),
    })
    const redriven = await remotely('dead', 'redrive', second, '--payload', '{"to":"dora"}')
    const [, job = ''] = /^\d+ +redriven +(\d+)$/m.exec(redriven.out) ?? []
    expect(await t.millrace.job(job)).toMatchObject({ payload: { to: 'dora' } })
    expect(await remotely('dead', 'prune', '--older-than', '0ms')).toMatchObject({ out: 'Forgot 1 dead letter.\n' })
  })

  test('a worker is asked, by the beginning of its id', async () => {
    const asked = t.millrace.events.next('worker_asked')
    const quieted = await remotely('workers', 'quiet', workerId.slice(0, 8), '--reason', 'a leak')
    expect(quieted).toMatchObject({ code: 0, out: expect.stringContaining('is asked to take no more jobs') })
    expect((await asked).request).toEqual({ kind: 'quiet', by: 'admin token', reason: 'a leak' })
    expect((await remotely('workers', 'resume', workerId.slice(0, 8))).code).toBe(0)
  })
})

describe('which one', () => {
  test('a process of its own takes the URL and the token from the environment', async () => {
    const env = { MILLRACE_ADMIN_URL: `${api.url}/admin/`, MILLRACE_ADMIN_TOKEN: tokens.operator }
    expect(await ran(['queues'], env)).toEqual(await locally('queues'))
    const wrong = { ...env, MILLRACE_ADMIN_TOKEN: 'wrong' }
    expect(await saidBy(['--database-url', t.env.DATABASE_URL, 'queues'], wrong)).toEqual(await locally('queues'))
  })

  test('both on the command line are an error', async () => {
    const both = await saidBy(['--database-url', 'postgres://x', 'jobs', '--admin-url', api.url])
    expect(both).toMatchObject({ code: 1, err: expect.stringContaining('either --database-url or --admin-url') })
  })

  test('other commands say that they need the database', async () => {
    for (const args of [['tenants'], ['cancel', '1'], ['migrate'], ['top']]) {
      const { code, err } = await remotely(...args)
      expect(code).toBe(1)
      expect(err).toMatch(new RegExp(`^error: \`millrace ${args[0]}.*\` needs the database.*Pass --database-url`))
    }
    const { code, err } = await saidBy(['tenants'], { ...t.env, MILLRACE_ADMIN_URL: api.url })
    expect(code).toBe(1)
    expect(err).toMatch(/needs the database.*MILLRACE_ADMIN_URL is set, so DATABASE_URL does not count/)
  })
})

describe('failures', () => {
  test('the token is missing, wrong, unusable, or too weak', async () => {
    expect((await remotelyAs('', 'queues')).err).toMatch(/needs a token\. Put one into MILLRACE_ADMIN_TOKEN/)
    expect((await remotelyAs('mr_wrong', 'queues')).err).toMatch(/does not accept the token in MILLRACE_ADMIN_TOKEN/)
    const broken = await remotelyAs('two words', 'queues')
    expect(broken.err).toMatch(/holds characters that no token has/)
    expect(broken.err).not.toContain('two words')
    expect((await remotelyAs(tokens.viewer, 'jobs', '--where', 'payload.to:ann')).err).toMatch(
      /needs the role operator, and viewer token is viewer/,
    )
  })

  test('a viewer sees a job and a letter without payloads', async () => {
    const job = await remotelyAs(tokens.viewer, 'job', jobs.done)
    expect(job).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Type         letter') })
    expect(job.out).not.toMatch(/^(Payload|Result)/m)
    const [id = ''] = (await t.millrace.deadLetters.list()).map((each) => each.id)
    const shown = await remotelyAs(tokens.viewer, 'dead', 'show', id)
    expect(shown).toMatchObject({ code: 0, out: expect.stringContaining('no such address') })
    expect(shown.out).not.toContain('Payload')
  })

  test('an address without an admin API', async () => {
    const answers: Record<string, [number, string, string]> = {
      '/page': [200, 'text/html', '<h1>Hello</h1>'],
      '/json': [200, 'application/json', '{"hello":"world"}'],
      '/error': [404, 'application/json', '{"error":"not found"}'],
      '/moved': [302, 'text/html', ''],
    }
    await using other = await served(({ url = '' }, response) => {
      const [status, type, body] = answers[url.replace(/\/admin\/.*/, '')] ?? [500, 'text/plain', '']
      response.writeHead(status, { 'content-type': type, ...(status === 302 && { location: '/login' }) }).end(body)
    })
    const at = async (url: string) => {
      const { code, err } = await saidBy(['queues', '--admin-url', url], { MILLRACE_ADMIN_TOKEN: tokens.viewer })
      expect(code).toBe(1)
      expect(err.trimEnd()).not.toContain('\n')
      return err
    }
    expect(await at(`${other.url}/page`)).toMatch(/no admin API at .*: it answered 200 with text\/html instead of JSON/)
    expect(await at(`${other.url}/json`)).toMatch(/no admin API at .*: its answer to GET \/admin\/api\/queues is not/)
    expect(await at(`${other.url}/error`)).toMatch(/no admin API at .*: it answered 404/)
    expect(await at(`${other.url}/moved`)).toMatch(/no admin API at .*: it redirects to \/login/)
    const gone = await served(() => {})
    await gone[Symbol.asyncDispose]()
    expect(await at(gone.url)).toMatch(/Nothing listens at http.* Start `millrace admin`/)
    expect(await at('jobs.example.com')).toMatch(/The admin URL is "jobs.example.com"\. Expected an address such as/)
    expect(await at('https://ann:secret@jobs.example.com')).toMatch(/holds a password/)
  })
})
