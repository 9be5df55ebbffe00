// The first minute of `npm start`: every job type that is built runs once, and ends well.
import { testDatabase } from 'millrace/testing'
import { expect, inject, test } from 'vitest'
import { startScript } from './support/start-script.ts'

test('every built job type completes within two minutes of npm start', { timeout: 150_000 }, async () => {
  await using database = await testDatabase({ server: inject('serverUrl') })
  await using village = await startScript('start', { databaseUrl: database.url })
  const completed = async (): Promise<string[]> => {
    const answer = await fetch(new URL('/admin/api/jobs?status=completed&limit=200', village.line('Village')))
    const { jobs } = (await answer.json()) as { jobs: { type: string }[] }
    return [...new Set(jobs.map(({ type }) => type))].sort()
  }
  await expect
    .poll(completed, { timeout: 120_000, interval: 1_000 })
    .toEqual(expect.arrayContaining(['AI_TAGGING', 'RSS_FEED_REFRESH', 'STOCK_REFRESH', 'WEATHER_REFRESH']))
})
