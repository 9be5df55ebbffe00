// docs/workloads/village-homepage/operations.md: its commands run as they stand there, by the real curl and psql.
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { enqueued } from 'millrace/testing'
import { describe, expect, test } from 'vitest'
import { intervalOf } from '#src/feeds/categories'
import { villageMetrics } from '#src/telemetry/metrics'
import { blocks, root } from '../../../test/support/document.ts'
import { items, rss } from './support/feed-server.ts'
import { feedSetup } from './support/feeds.ts'
import { hasPrograms, one, serve } from './support/guide.ts'

const GUIDE = 'docs/workloads/village-homepage/operations.md'
const text = readFileSync(`${root}${GUIDE}`, 'utf8')
const [shell, sql] = [blocks(GUIDE, 'sh'), blocks(GUIDE, 'sql')]
if (!hasPrograms) console.warn(`SKIPPED: curl or psql is not installed, so the commands of ${GUIDE} are not tested.`)

describe.skipIf(!hasPrograms)('the guide to the feeds', () => {
  test('its changes of a feed and its refresh work without a token on this machine', async () => {
    await using t = await feedSetup()
    await using server = await serve(t, { isDevelopment: true })
    const id = await t.follow('/feed', { is_active: false, error_count: 5, last_error_message: 'gone' })
    const of = async (part: string) => JSON.parse(await server.sh(one(shell, part).replaceAll('uuid-of-source', id)))
    expect(await of('"is_active": true')).toMatchObject({
      id,
      is_active: true,
      error_count: 0,
      last_error_message: null,
    })
    expect(await of('content_hash')).toMatchObject({ id, dedupe_mode: 'content_hash' })
    expect(await of('entry_limit')).toMatchObject({ id, entry_limit: 200 })
    const queued = await of('RSS_FEED_REFRESH')
    expect(queued).toMatchObject({ status: 'queued', job_type: 'RSS_FEED_REFRESH', queue: 'DEFAULT', warnings: [] })
    expect(await of('RSS_FEED_REFRESH')).toMatchObject({ status: 'duplicate', id: queued.id })
    const [job] = await enqueued(t.millrace, t.parts.contracts.RSS_FEED_REFRESH)
    expect(job?.payload).toEqual({ source_id: id, force_refresh: true })
    expect(await of('"BBC News"')).toMatchObject({ category: 'Breaking News', refresh_interval_minutes: 15 })
  })

  test('a mistyped refresh is refused with what was expected', async () => {
    await using t = await feedSetup()
    await using server = await serve(t, { isDevelopment: true })
    const refresh = one(shell, 'RSS_FEED_REFRESH')
    const answerTo = (block: string) => server.sh(block).catch(({ stdout }: { stdout: string }) => JSON.parse(stdout))
    expect(await answerTo(refresh)).toMatchObject({ status: 400, detail: expect.stringContaining('source_id') })
    expect(await answerTo(refresh.replace('RSS_FEED_REFRESH', 'RSS_FEED_REFRES'))).toMatchObject({
      status: 404,
      detail: expect.stringContaining('RSS_FEED_REFRESH'),
    })
    const force = refresh
      .replace('uuid-of-source', '5f0f6f2e-6f0c-4c58-9d3a-0e1f5b7a9c11')
      .replace('force_refresh', 'force')
    expect(await answerTo(force)).toMatchObject({ status: 400, detail: expect.stringContaining('force') })
  })

  test('an exported list of feeds is imported', async () => {
    await using t = await feedSetup()
    await using server = await serve(t, { isDevelopment: true })
    const folder = await mkdtemp(join(tmpdir(), 'village-opml-'))
    const outline =
      '<outline text="Tech News"><outline type="rss" text="It’s “new”" xmlUrl="https://tech.example/rss"/></outline>'
    await writeFile(join(folder, 'feeds.opml'), `<opml version="2.0"><body>${outline}</body></opml>`)
    const answer = await server.sh(`cd ${folder}\n${one(shell, 'feeds.opml')}`)
    expect(JSON.parse(answer)).toEqual({ found: 1, added: 1, known: 0, unusable: [] })
    await rm(folder, { recursive: true })
  })

  test('its queries run in psql, and say what they are to say', async () => {
    await using t = await feedSetup()
    await using server = await serve(t, { isDevelopment: true })
    const [story] = items(1)
    t.server.set('/feed', {
      body: rss([
        { ...story, guid: 'old' },
        { ...story, guid: 'new' },
      ]),
    })
    const id = await t.follow('/feed', { name: 'Gazette' })
    await t.refresh(id)
    const off = await t.follow('/off', { name: 'Mill', is_active: false, error_count: 5, last_error_type: 'http_404' })
    await t.follow('/due', { name: 'Wire' })
    const answer = (part: string) => server.psql(one(sql, part).replaceAll('uuid-of-source', off))
    expect(await answer('WHERE is_active = false')).toMatch(/^Mill\|.*\|5\|http_404\|/)
    expect(await answer('HAVING')).toMatch(/^[\da-f]{32}\|2\|story number 0$/)
    expect(await answer('untagged')).toBe('Gazette|2|2')
    expect((await answer('NULLS FIRST')).split('\n').map((line) => line.split('|')[1])).toEqual(['Wire'])
    await answer('UPDATE rss_sources')
    expect(await t.source(off)).toMatchObject({ is_active: true, error_count: 0, last_error_message: null })
    for (const block of sql) await server.psql(block.replaceAll('uuid-of-source', id))
  })
})

test('the guide has the intervals of the code, and names every metric of feeds', () => {
  for (const [, category = '', minutes] of text.matchAll(/^\| ([\w /]+) \| (\d+) minutes/gm))
    expect(intervalOf(category), category).toBe(Number(minutes))
  const names = villageMetrics.map(({ name }) => name).filter((name) => name.startsWith('rss_'))
  expect(names).toHaveLength(4)
  for (const name of names) expect(text).toContain(`\`${name}`)
})
