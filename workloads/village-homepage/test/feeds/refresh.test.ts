import { enqueued, runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { items, rss } from '../support/feed-server.ts'
import { feedSetup } from '../support/feeds.ts'

const UNKNOWN = '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11'

test('without a source, one job is enqueued for each source that is due; at once again, all are duplicates', async () => {
  await using t = await feedSetup()
  const never = await t.follow('/never')
  const due = await t.follow('/due', { last_fetched_at: new Date(Date.now() - 61 * 60_000) })
  await t.follow('/fresh', { last_fetched_at: new Date() })
  await t.follow('/off', { is_active: false })
  const all = t.handler('RSS_FEED_REFRESH')
  const first = await runJob(all, {}, { millrace: t.millrace })
  expect(first).toMatchObject({ outcome: 'completed', result: { due: 2, enqueued: 2, duplicate: 0 } })
  const jobs = await enqueued(t.millrace, t.parts.contracts.RSS_FEED_REFRESH)
  const children = jobs.filter(({ payload }) => payload.source_id !== undefined)
  expect(children.map(({ payload }) => payload.source_id).sort()).toEqual([never, due].sort())
  const { correlationId } = (await t.millrace.job(first.job.id)) ?? {}
  for (const { id } of children)
    expect(await t.millrace.job(id)).toMatchObject({ correlationId, parentJobId: first.job.id })
  const second = await runJob(all, {}, { millrace: t.millrace })
  expect(second).toMatchObject({ result: { due: 2, enqueued: 0, duplicate: 2 } })
})

test('a forced refresh concerns every active source, due or not; without any, nothing is enqueued', async () => {
  await using t = await feedSetup()
  const all = t.handler('RSS_FEED_REFRESH')
  const none = await runJob(all, { force_refresh: true }, { millrace: t.millrace })
  expect(none).toMatchObject({ result: { due: 0, enqueued: 0, duplicate: 0 } })
  await t.follow('/never')
  await t.follow('/fresh', { last_fetched_at: new Date() })
  await t.follow('/off', { is_active: false })
  const forced = await runJob(all, { force_refresh: true }, { millrace: t.millrace })
  expect(forced).toMatchObject({ result: { due: 2, enqueued: 2 } })
  const jobs = await enqueued(t.millrace, t.parts.contracts.RSS_FEED_REFRESH)
  expect(jobs.filter(({ payload }) => payload.source_id && payload.force_refresh)).toHaveLength(2)
})

test('a source that is unknown, inactive or not due ends quietly and is not asked', async () => {
  await using t = await feedSetup()
  const off = await t.follow('/off', { is_active: false })
  const fresh = await t.follow('/fresh', { last_fetched_at: new Date() })
  expect(await t.refresh(UNKNOWN)).toMatchObject({ result: { status: 'not_found', source_id: UNKNOWN } })
  expect(await t.refresh(off)).toMatchObject({ result: { status: 'inactive' } })
  expect(await t.refresh(fresh, { isForced: false })).toMatchObject({ result: { status: 'not_due' } })
  expect(t.server.asked).toEqual([])
  const { millrace, parts } = t
  await expect(millrace.enqueue(parts.contracts.RSS_FEED_REFRESH, { source_id: 'gazette' })).rejects.toThrow(
    'source_id',
  )
  const nulled = await runJob(t.handler('RSS_FEED_REFRESH'), { source_id: null }, { millrace })
  expect(nulled).toMatchObject({ result: { due: 0 } })
})

test('items are stored once, whatever fetches them again', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss(items(3)) })
  const id = await t.follow('/feed')
  expect(await t.refresh(id)).toMatchObject({
    result: { status: 'fetched', fetched: 3, new: 3, duplicate: 0, skipped: 0 },
  })
  t.server.set('/feed', { body: rss([...items(3), { guid: 'story-0', title: 'again', link: 'https://x.example/' }]) })
  expect(await t.refresh(id)).toMatchObject({ result: { fetched: 4, new: 0, duplicate: 4 } })
  const [first] = await t.items(id)
  expect(first).toMatchObject({ title: 'story number 0', description: 'What happened in story 0', ai_tagged: false })
})

test('two jobs that fetch the same feed at once store each item once', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss(items(50)) })
  const id = await t.follow('/feed')
  const worker = await t.work()
  const { RSS_FEED_REFRESH } = t.parts.contracts
  const [one, two] = await Promise.all([
    t.millrace.enqueue(RSS_FEED_REFRESH, { source_id: id }),
    t.millrace.enqueue(RSS_FEED_REFRESH, { source_id: id, force_refresh: true }),
  ])
  const results = await Promise.all([one, two].map(({ id }) => t.millrace.result(id)))
  const added = results.map((ended) => (ended.status === 'completed' ? (ended.result as { new: number }).new : 0))
  expect(added.sort((a, b) => a - b)).toEqual([0, 50])
  expect(await t.items(id)).toHaveLength(50)
  await worker.stop()
})

test('a run that has lost its job stores nothing, and the next one stores each item once', async () => {
  await using t = await feedSetup()
  const id = await t.follow('/feed')
  t.server.set('/feed', (_request, response) => {
    // As the rescuer does when a worker seems dead: the job belongs to nobody, while its first run goes on.
    const taken = t.sql("update millrace.job set status = 'pending', run_id = null, run_at = now() + interval '1 hour'")
    taken.then(() => response.writeHead(200).end(rss(items(3))))
  })
  expect(await t.refresh(id)).toMatchObject({ outcome: 'lost' })
  expect(await t.items(id)).toEqual([])
  expect(await t.source(id)).toMatchObject({ last_fetched_at: null, error_count: 0 })
  t.server.set('/feed', { body: rss(items(3)) })
  expect(await t.refresh(id)).toMatchObject({ result: { new: 3 } })
})

test('feeds that count 1, 2, 3 keep their items apart, and entries without a guid stay the same from fetch to fetch', async () => {
  await using t = await feedSetup()
  t.server.set('/a', { body: rss([{ guid: '1', title: 'A', link: 'https://a.example/1' }]) })
  t.server.set('/b', { body: rss([{ guid: '1', title: 'B', link: 'https://b.example/1' }]) })
  const [a, b] = [await t.follow('/a'), await t.follow('/b')]
  expect(await t.refresh(a)).toMatchObject({ result: { new: 1 } })
  expect(await t.refresh(b)).toMatchObject({ result: { new: 1 } })
  const bare = [
    { title: 'dated', link: 'https://c.example/1', date: 'Wed, 18 Nov 2026 10:00:00 GMT' },
    { title: 'undated', link: 'https://c.example/2' },
    { title: 'from the future', link: 'https://c.example/3', date: 'Wed, 18 Nov 2099 10:00:00 GMT' },
  ]
  t.server.set('/c', { body: rss(bare) })
  const c = await t.follow('/c')
  expect(await t.refresh(c)).toMatchObject({ result: { new: 3 } })
  expect(await t.refresh(c)).toMatchObject({ result: { new: 0, duplicate: 3 } })
  for (const { item_guid } of await t.items(c)) expect(item_guid).toMatch(/^hash:[\da-f]{64}$/)
  const [late] = await t.sql(
    "select max(published_at) <= now() as is_now from feed_items where title = 'from the future'",
  )
  expect(late).toEqual({ is_now: true })
})

test('mode content_hash drops a copy that comes under a new guid', async () => {
  await using t = await feedSetup()
  const [story] = items(1)
  t.server.set('/feed', { body: rss([{ ...story, guid: 'old' }]) })
  const by = { guid: await t.follow('/feed'), hash: await t.follow('/feed?', { dedupe_mode: 'content_hash' }) }
  t.server.set('/feed?', { body: rss([{ ...story, guid: 'old' }]) })
  await t.refresh(by.guid)
  await t.refresh(by.hash)
  for (const path of ['/feed', '/feed?'])
    t.server.set(path, { body: rss([{ ...story, guid: 'new' }, { ...story, guid: 'newer' }, ...items(1, 'other')]) })
  expect(await t.refresh(by.guid)).toMatchObject({ result: { new: 3 } })
  expect(await t.refresh(by.hash)).toMatchObject({ result: { new: 1, duplicate: 2 } })
})

test('of 50 entries, 3 lack a title or an address: 47 are stored, and 3 warnings name the others', async () => {
  await using t = await feedSetup()
  const broken = items(50).map((entry, i) => {
    if (i === 7) return { ...entry, title: '' }
    if (i === 8) return { ...entry, title: '  ' }
    return i === 9 ? { ...entry, link: 'javascript:alert(1)', guid: 'no link' } : entry
  })
  t.server.set('/feed', { body: rss(broken) })
  const run = await t.refresh(await t.follow('/feed'))
  expect(run).toMatchObject({ outcome: 'completed', result: { fetched: 50, new: 47, skipped: 3 } })
  const skipped = run.logs.filter(({ message }) => message === 'an entry was skipped')
  expect(skipped.map(({ fields }) => fields)).toEqual([
    expect.objectContaining({ guid: 'story-7', missing: 'title' }),
    expect.objectContaining({ guid: 'story-8', missing: 'title' }),
    expect.objectContaining({ guid: 'no link', missing: 'url' }),
  ])
})

test('5,000 entries take one insert and less than 5 s; the newest are kept within the limit of the source', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', { body: rss(items(5_000)) })
  const all = await t.follow('/feed', { entry_limit: 10_000 })
  // Of the processor: other tests run beside this one.
  const before = process.cpuUsage()
  expect(await t.refresh(all)).toMatchObject({ result: { fetched: 5_000, new: 5_000 } })
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(5_000)
  t.server.set('/few', { body: rss(items(20)) })
  const few = await t.follow('/few', { entry_limit: 5 })
  expect(await t.refresh(few)).toMatchObject({ result: { fetched: 5, new: 5 } })
  expect((await t.items(few)).map(({ item_guid }) => item_guid)).toEqual([15, 16, 17, 18, 19].map((i) => `story-${i}`))
})

test('a feed that has not changed is asked for by its ETag and writes no item; a forced refresh asks for all', async () => {
  await using t = await feedSetup()
  t.server.set('/feed', (request, response) => {
    if (request.headers['if-none-match'] === '"1"') response.writeHead(304, { etag: '"1"' }).end()
    else response.writeHead(200, { etag: '"1"', 'last-modified': 'Wed, 18 Nov 2026 10:00:00 GMT' }).end(rss(items(2)))
  })
  const id = await t.follow('/feed', { error_count: 3, user_agent: 'Mozilla/5.0' })
  expect(await t.refresh(id, { isForced: false })).toMatchObject({ result: { status: 'fetched', new: 2 } })
  expect(await t.source(id)).toMatchObject({ error_count: 0, etag: '"1"' })
  await t.sql("update rss_sources set last_fetched_at = now() - interval '2 hours', error_count = 2")
  expect(await t.refresh(id, { isForced: false })).toMatchObject({
    result: { status: 'not_modified', new: 0, fetched: 0 },
  })
  expect(await t.source(id)).toMatchObject({ error_count: 0, etag: '"1"' })
  expect(await t.refresh(id)).toMatchObject({ result: { status: 'fetched', duplicate: 2 } })
  expect(
    t.server.asked.map(({ headers }) => [
      headers['if-none-match'],
      headers['if-modified-since'],
      headers['user-agent'],
    ]),
  ).toEqual([
    [undefined, undefined, 'Mozilla/5.0'],
    ['"1"', 'Wed, 18 Nov 2026 10:00:00 GMT', 'Mozilla/5.0'],
    [undefined, undefined, 'Mozilla/5.0'],
  ])
})

test('a feed that moved for good says where to; one that is elsewhere for now does not', async () => {
  await using t = await feedSetup()
  const to = (status: number, location: string) => ({ status, headers: { location } })
  t.server.set('/new', { body: rss([{ title: 'T', link: 'story' }]) })
  t.server.set('/old', to(301, '/between'))
  t.server.set('/between', to(308, '/new'))
  t.server.set('/away', to(302, '/new'))
  t.server.set('/mixed', to(301, '/away'))
  for (const [path, movedTo] of [
    ['/old', '/new'],
    ['/away', null],
    ['/mixed', '/away'],
  ] as const) {
    const id = await t.follow(path)
    expect(await t.refresh(id)).toMatchObject({ result: { new: 1 } })
    expect((await t.source(id)).moved_to).toBe(movedTo === null ? null : t.server.url(movedTo))
  }
})
