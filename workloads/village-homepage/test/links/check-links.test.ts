import { randomUUID } from 'node:crypto'
import { nextFire, timingOf } from 'millrace'
import { enqueued, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { hostileUrls, startCanary } from '../support/canary.ts'
import { feedSetup } from '../support/feeds.ts'

const DAY_MS = 86_400_000

/** The village with good sites on a server of ours, at a moment that the test moves. */
async function village() {
  let now = new Date('2026-11-15T04:00:00Z')
  const t = await feedSetup({
    clock: { now: () => now },
    env: { VILLAGECOMPUTE_LINKS_REQUEST_INTERVAL: '0', VILLAGECOMPUTE_LINKS_TIMEOUT: '1' },
  })
  return Object.assign(t, {
    moveTo(days: number) {
      now = new Date(Date.parse('2026-11-15T04:00:00Z') + days * DAY_MS)
    },
    /** A site, with the link to itself. Answers with the id of the link. */
    async site(url: string): Promise<string> {
      const [row] = await t.sql<{ id: string }>(
        `with site as (insert into village.good_sites (url, title) values ($1, $1) returning id)
        insert into village.site_links (site_id, url, next_check_at) select id, $1, $2 from site returning id`,
        [url, now],
      )
      return row?.id as string
    },
    check: (ids: string[], payload = {}) =>
      runJob(
        t.handler('LINK_HEALTH_CHECK'),
        { link_ids: ids, ...payload },
        { millrace: t.millrace, dedupKey: randomUUID() },
      ),
    async link(id: string) {
      const [row] = await t.sql<{
        state: string
        failures: number
        http_status: number | null
        moved_to: string | null
        next_check_at: Date
      }>('select state, failures, http_status, moved_to, next_check_at from village.site_links where id = $1', [id])
      return row
    },
  })
}

test('what a server answers becomes the state of its link', async () => {
  await using t = await village()
  const { sandbox } = t
  const states: Record<string, object> = {
    choir: { state: 'ok', http_status: 200, moved_to: null },
    away: { state: 'ok', http_status: 200, moved_to: null },
    moved: { state: 'moved', http_status: 200, moved_to: `${sandbox.urlOf('links')}/choir` },
    gone: { state: 'broken', http_status: 404, failures: 1 },
    busy: { state: 'unsure', http_status: 503, failures: 0 },
    'no-head': { state: 'ok', http_status: 200 },
  }
  const ids = new Map<string, string>()
  for (const name of Object.keys(states)) ids.set(name, await t.site(`${sandbox.urlOf('links')}/${name}`))
  expect(await t.check([...ids.values()])).toMatchObject({
    outcome: 'completed',
    result: { checked: 6, ok: 3, moved: 1, broken: 1, dead: 0 },
  })
  for (const [name, id] of ids) expect(await t.link(id), name).toMatchObject(states[name] ?? {})
  const asked = sandbox.received.calls.map(({ what }) => what)
  expect(asked.filter((what) => what.endsWith('/no-head'))).toEqual(['GET /no-head', 'HEAD /no-head'])
  expect(asked.filter((what) => what.endsWith('/gone'))).toEqual(['HEAD /gone'])
})

const ANSWERS = {
  ...{ 429: 'unsure', 500: 'unsure', 403: 'unsure', 410: 'broken', 204: 'ok' },
  ...{ silence: 'unsure', 'hang-up': 'unsure', loop: 'broken' },
}

test('only what no visitor can reach is broken; servers that are busy or silent leave it open', async () => {
  await using t = await village()
  const ids: string[] = []
  for (const answer of Object.keys(ANSWERS)) {
    t.server.set(`/${answer}`, (request, response) => {
      if (answer === 'silence') return
      if (answer === 'hang-up') request.socket.destroy()
      else if (answer === 'loop') response.writeHead(301, { location: '/loop' }).end()
      else response.writeHead(Number(answer)).end()
    })
    ids.push(await t.site(t.server.url(`/${answer}`)))
  }
  expect(await t.check(ids)).toMatchObject({ result: { checked: 8, ok: 1, broken: 2 } })
  for (const [i, [answer, state]] of Object.entries(ANSWERS).entries())
    expect(await t.link(ids[i] ?? ''), answer).toMatchObject({ state, failures: state === 'broken' ? 1 : 0 })
})

test('names that nobody knows are broken', async () => {
  await using t = await village()
  const id = await t.site('http://nobody.invalid/')
  await t.check([id])
  expect(await t.link(id)).toMatchObject({ state: 'broken', http_status: null })
})

test('a broken link is looked at again after a day: three times in a row it is dead, and one answer clears it', async () => {
  await using t = await village()
  const { LINK_HEALTH_CHECK } = t.parts.contracts
  const id = await t.site(t.server.url('/gone'))
  await t.site(t.server.url('/other'))
  const planned = async () =>
    (await enqueued(t.millrace, LINK_HEALTH_CHECK)).filter(({ payload }) => payload.round !== undefined)
  const again = async () => (await planned()).map(({ payload }) => payload)
  await t.check([id], { host: t.server.address })
  expect(await again()).toEqual([{ link_ids: [id], host: t.server.address, round: 2 }])
  const [job] = await planned()
  expect(Number(job?.runAt.getTime()) - Date.now()).toBeGreaterThan(23 * 3_600_000)

  // An operator who looks in between does not make it die sooner.
  await t.check([id])
  expect(await t.link(id)).toMatchObject({ state: 'broken', failures: 1 })

  t.moveTo(1)
  await t.check([id], { host: t.server.address, round: 2 })
  expect(await t.link(id)).toMatchObject({ state: 'broken', failures: 2 })
  expect(await again()).toContainEqual({ link_ids: [id], host: t.server.address, round: 3 })
  t.moveTo(2)
  expect(await t.check([id], { round: 3 })).toMatchObject({ result: { checked: 1, broken: 0, dead: 1 } })
  expect(await t.link(id)).toMatchObject({ state: 'dead', failures: 3 })

  t.server.set('/gone', { status: 503 })
  t.moveTo(9)
  await t.check([id])
  expect(await t.link(id)).toMatchObject({ state: 'dead' })
  t.server.set('/gone', { status: 200 })
  await t.check([id])
  expect(await t.link(id)).toMatchObject({ state: 'ok', failures: 0 })
})

test('a dead link takes its site off the list, and an answer brings it back', async () => {
  await using t = await village()
  const id = await t.site(t.server.url('/gone'))
  const status = async () => {
    await runJob(t.handler('RANK_RECALCULATION'), {}, { millrace: t.millrace, dedupKey: randomUUID() })
    return (await t.sql<{ status: string }>('select status from village.good_sites'))[0]?.status
  }
  const statuses: (string | undefined)[] = []
  for (const day of [0, 1, 2]) {
    t.moveTo(day)
    await t.check([id], { round: day + 1 })
    statuses.push(await status())
  }
  expect(statuses).toEqual(['listed', 'listed', 'unlisted'])
  t.server.set('/gone', { status: 200 })
  t.moveTo(8)
  await t.check([id])
  expect(await status()).toBe('listed')
})

test('once a week there is a job for the links of each host, and every site has at least the link to itself', async () => {
  await using t = await village()
  await t.sql("insert into village.good_sites (url, title) values ('https://own.example/', 'Own'), ('odd', 'Odd')")
  for (let i = 0; i < 26; i++) await t.site(`http://many.example/${i}`)
  const resting = await t.site('http://resting.example/')
  await t.sql("update village.site_links set next_check_at = '2026-11-17' where id = $1", [resting])
  const fan = () =>
    runJob(t.handler('LINK_HEALTH_CHECK'), {}, { millrace: t.millrace, dedupKey: randomUUID() }).then(
      (run) => run.outcome === 'completed' && run.result,
    )
  expect(await fan()).toEqual({ due: 26, enqueued: 2, duplicate: 0 })
  t.moveTo(365)
  expect(await fan()).toEqual({ due: 29, enqueued: 3, duplicate: 2 })
  const jobs = await enqueued(t.millrace, t.parts.contracts.LINK_HEALTH_CHECK)
  const sizes = jobs.flatMap(({ payload: { host, link_ids: ids } }) => (ids ? `${host}: ${ids.length}` : []))
  expect(sizes.sort()).toEqual([
    ...['many.example: 1', 'many.example: 25', 'own.example: 1', 'resting.example: 1', 'undefined: 1'],
  ])
  const { when } = t.village.schedules?.find(({ name }) => name === 'link-health-check') ?? {
    when: { at: '' } as never,
  }
  const friday = new Date('2026-11-20T12:00:00Z')
  expect(nextFire(timingOf(when, { now: friday }), friday)).toEqual(new Date('2026-11-22T04:00:00Z'))
})

test('a host answers one job at a time, however many workers there are', async () => {
  await using t = await village()
  const ids: string[] = []
  let [running, most, asked] = [0, 0, 0]
  for (let i = 0; i < 6; i++) {
    t.server.set(`/${i}`, (_request, response) => {
      running += 1
      asked += 1
      most = Math.max(most, running)
      setTimeout(() => {
        running -= 1
        response.end()
      }, 50)
    })
    ids.push(await t.site(t.server.url(`/${i}`)))
  }
  await t.millrace.enqueueMany(
    t.parts.contracts.LINK_HEALTH_CHECK,
    ids.map((id) => ({ link_ids: [id], host: t.server.address })),
  )
  await t.work()
  await eventually(async () => asked === 6, 10_000)
  expect(most).toBe(1)
})

test('no address inside is asked, neither as a link nor by a redirect', async () => {
  await using canary = await startCanary()
  await using t = await village()
  for (const [i, url] of hostileUrls(canary.port).entries()) {
    const direct = await t.site(url)
    await t.check([direct])
    expect(await t.link(direct), url).toMatchObject({ state: 'broken', http_status: null })
    if (!URL.canParse(url)) continue
    t.server.set(`/${i}`, { status: i % 2 === 0 ? 302 : 301, headers: { location: url } })
    const led = await t.site(t.server.url(`/${i}`))
    await t.check([led])
    expect(await t.link(led), url).toMatchObject({ http_status: null, moved_to: null })
  }
  expect(canary.touched()).toBe(0)
})
