import { createConnection } from 'node:net'
import { type Front, json, PagerDuty, Received, Switches, startFront, text } from '@millrace/sandbox'
import { afterAll, beforeAll, expect, test } from 'vitest'

type Name = 'clock' | 'pagerduty' | 'smtp'

const pagerDuty = new PagerDuty()
const received = new Received<Name>()
const clock = { answer: () => json(200, { now: 'noon' }), limited: () => text(429, 'Ask less often.') }
const hostile = '<script>alert(1)</script>'
let front: Front<'clock' | 'pagerduty'>

beforeAll(async () => {
  front = await startFront({
    ...{ title: 'Toys', intro: hostile, titles: { clock: 'Clock', pagerduty: 'PagerDuty', smtp: 'Mail server' } },
    ...{ switches: new Switches<Name>(), received, services: { clock, pagerduty: pagerDuty } },
    blocks: () => [{ title: 'Told', rows: [{ label: hostile, tag: hostile, body: hostile }], empty: 'Nothing.' }],
    state: () => ({ incidents: pagerDuty.incidents }),
  })
})
afterAll(() => front.stop())

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${front.url}${path}`, { method: 'POST', body: JSON.stringify(body), headers })
const askClock = () => fetch(`${front.urlOf('clock')}/now?apikey=secret&place=here`)

test('a switch changes a service until it is thrown back, and says what it does not understand', async () => {
  expect(await (await post('/control/clock', { mode: 'down' })).json()).toMatchObject({ name: 'clock', mode: 'down' })
  expect((await askClock()).status).toBe(503)
  await post('/control/clock', { mode: 'limited' })
  expect(await (await askClock()).text()).toBe('Ask less often.')
  await post('/control/clock', { mode: 'ok' })
  expect(await (await askClock()).json()).toEqual({ now: 'noon' })
  const unknown = await post('/control/cluck', { mode: 'down' })
  expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('clock, pagerduty, smtp')])
  const wrong = await post('/control/clock', { mode: 'off' })
  expect([wrong.status, await wrong.text()]).toEqual([400, expect.stringContaining('ok, slow, down, limited')])
  const foreign = await post('/control/clock', { mode: 'down' }, { 'sec-fetch-site': 'cross-site' })
  expect(foreign.status).toBe(403)
})

test('what was asked is remembered without its key, and can be waited for', async () => {
  const before = received.count('clock')
  const heard = received.until(() => received.count('clock') > before)
  await askClock()
  await heard
  expect(received.calls[0]).toMatchObject({ service: 'clock', what: 'GET /now?place=here', status: 200 })
  const state = (await (await fetch(`${front.url}/control`)).json()) as Record<string, unknown>
  expect(Object.keys(state)).toEqual(['services', 'calls', 'incidents'])
})

test('its page shows what strangers wrote as text', async () => {
  const page = await (await fetch(front.url)).text()
  expect(page).not.toContain(hostile)
  expect(page.match(/&#60;script&#62;alert\(1\)/g)).toHaveLength(4)
})

test('PagerDuty has one open incident for a key, and refuses what the real one refuses', async () => {
  const event = { routing_key: 'key', dedup_key: 'stocks' }
  const payload = { summary: 'stocks', source: 'HIGH', severity: 'error' }
  for (let i = 0; i < 2; i++) await post('/pagerduty/v2/enqueue', { ...event, event_action: 'trigger', payload })
  const mine = () => pagerDuty.incidents.filter(({ dedupKey }) => dedupKey === 'stocks')
  expect(mine()).toMatchObject([{ state: 'triggered', triggers: 2 }])
  await post('/pagerduty/v2/enqueue', { ...event, event_action: 'resolve' })
  expect(mine()).toMatchObject([{ state: 'resolved' }])
  const refused = await post('/pagerduty/v2/enqueue', { ...event, event_action: 'trigger', payload: { summary: '' } })
  expect(refused.status).toBe(400)
})

test('a stranger that hangs up does not end it', async () => {
  const socket = createConnection(Number(new URL(front.url).port), '127.0.0.1')
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write('POST /control/clock HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{')
  socket.destroy()
  expect((await fetch(`${front.url}/control`)).status).toBe(200)
})
