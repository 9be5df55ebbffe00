import { randomUUID } from 'node:crypto'
import { runJob } from 'millrace/testing'
import { expect, test } from 'vitest'
import { addItems } from '../support/articles.ts'
import { setup, type Village } from '../support/setup.ts'

const rank = (t: Village, as_of: string) =>
  runJob(t.handler('RANK_RECALCULATION'), { as_of }, { millrace: t.millrace, dedupKey: randomUUID() })

/** A second later: a Date has no microseconds, and what was written just now must not lie behind it. */
const now = async (t: Village): Promise<Date> =>
  (await t.sql<{ now: Date }>(`select now() + interval '1 second' as now`))[0]?.now ?? new Date()

const itemScores = async (t: Village): Promise<number[]> =>
  (await t.sql<{ rank_score: number }>('select rank_score from village.feed_items order by published_at desc')).map(
    ({ rank_score }) => rank_score,
  )

async function site(
  t: Village,
  name: string,
  { likes = 0, dislikes = 0, clicks = 0, state = 'ok' } = {},
): Promise<void> {
  const url = `https://${name}.example/`
  const [row] = await t.sql<{ id: string }>(
    'insert into village.good_sites (url, title) values ($1, $2) returning id',
    [url, name],
  )
  await t.sql('insert into village.site_links (site_id, url, state) values ($1, $2, $3)', [row?.id, url, state])
  await t.sql(
    `insert into village.site_votes (site_id, voter_id, value)
     select $1, gen_random_uuid(), case when n <= $2::integer then 1 else -1 end from generate_series(1, $2::integer + $3::integer) n`,
    [row?.id, likes, dislikes],
  )
  if (clicks > 0)
    await t.sql(
      `insert into village.click_rollups values (date_trunc('hour', now(), 'UTC') - interval '1 hour', 'site', $1, $2, 1)`,
      [row?.id, clicks],
    )
}

const sites = (t: Village) =>
  t.sql<{ title: string; score: number; status: string }>(
    'select title, score, status from village.good_sites order by score desc, title',
  )

test('new, clicked and certain items come first, and after a week nothing is left; the same moment ranks the same', async () => {
  await using t = await setup()
  const [fresh, sure, , old] = await addItems(t, [
    { minutesOld: 60 },
    { minutesOld: 61 },
    { minutesOld: 600 },
    { minutesOld: 8 * 24 * 60 },
  ])
  await t.sql(
    `update village.feed_items set ai_tags = '{"topics": [], "sentiment": "neutral", "categories": [], "confidence": 1}' where id = $1`,
    [sure],
  )
  await t.sql('update village.feed_items set rank_score = 5 where id = $1', [old])
  const asOf = (await now(t)).toISOString()
  expect(await rank(t, asOf)).toMatchObject({ outcome: 'completed', result: { sites: 0, items: 4, changed: 4 } })
  const [one = 0, two = 0, three = 0, four] = await itemScores(t)
  // An hour old, without tags: 0.8 / 3^1.5.
  expect(one).toBeCloseTo(0.154, 3)
  expect(two).toBeGreaterThan(one)
  expect(three).toBeLessThan(one)
  expect(four).toBe(0)
  expect(await rank(t, asOf)).toMatchObject({ result: { changed: 0 } })
  await t.sql(
    `insert into village.click_rollups values (date_trunc('hour', now(), 'UTC') - interval '1 hour', 'item', $1, 9, 9)`,
    [fresh],
  )
  await rank(t, asOf)
  const [clicked = 0] = await itemScores(t)
  expect(clicked / one).toBeCloseTo(1 + Math.log(10), 2)
})

test('a site needs many likes to be sure of, clicks help, and a dead one is not listed until it is ok again', async () => {
  await using t = await setup()
  await site(t, 'loved', { likes: 50, dislikes: 2 })
  await site(t, 'liked-once', { likes: 1 })
  await site(t, 'clicked', { likes: 1, clicks: 100 })
  await site(t, 'broken', { likes: 1, state: 'broken' })
  await site(t, 'dead', { likes: 80, state: 'dead' })
  const asOf = (await now(t)).toISOString()
  expect(await rank(t, asOf)).toMatchObject({ result: { sites: 5, changed: 5 } })
  const ranked = await sites(t)
  expect(ranked.map(({ title }) => title)).toEqual(['loved', 'clicked', 'liked-once', 'broken', 'dead'])
  // Wilson's lower bound of 1 of 1 is 0.2065.
  expect(ranked[2]?.score).toBeCloseTo(0.55 * 0.2065 + 0.1, 3)
  expect(ranked[4]).toMatchObject({ score: 0, status: 'unlisted' })
  expect(await rank(t, asOf)).toMatchObject({ result: { changed: 0 } })
  await t.sql(`update village.site_links set state = 'ok'`)
  await rank(t, asOf)
  expect((await sites(t)).find(({ title }) => title === 'dead')).toMatchObject({ status: 'listed' })
})

test('a like of a month ago weighs half as much', async () => {
  await using t = await setup()
  await site(t, 'old', { likes: 10, dislikes: 10 })
  await site(t, 'new', { likes: 10, dislikes: 10 })
  await t.sql(`update village.site_votes set voted_at = now() - interval '30 days'
    where value = 1 and site_id = (select id from village.good_sites where title = 'old')`)
  await rank(t, (await now(t)).toISOString())
  expect((await sites(t)).map(({ title }) => title)).toEqual(['new', 'old'])
})
