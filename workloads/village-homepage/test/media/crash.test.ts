import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { treeOf } from '#src/sites/process-tree'
import { eventually } from '../../../../packages/engine/test/support/setup.ts'
import { addOriginal, picture, variantRows } from '../support/pictures.ts'
import { setup } from '../support/setup.ts'

/** Processes of ours that run this type. */
const running = (type: string): number[] =>
  treeOf(process.pid).filter((pid) => {
    try {
      return execFileSync('ps', ['-o', 'args=', '-p', String(pid)], { encoding: 'utf8' }).includes(
        `child-main.js ${type}`,
      )
    } catch {
      return false
    }
  })

test('a crash of libvips costs one attempt, and neither the worker nor the picture', { timeout: 60_000 }, async () => {
  await using t = await setup({ env: { VILLAGECOMPUTE_JOBS_BASE_DELAY: '1' } })
  const handlers = t.village.handlers.filter(({ contract }) => contract.type === 'IMAGE_PROCESSING')
  const id = await addOriginal(t, await picture(1_000, 800).jpeg().toBuffer())
  // It is at work when it crashes, as long as what it has made cannot be written.
  const blocker = await t.pool.connect()
  await blocker.query('begin; lock table village.media in share mode')
  const { id: job } = await t.millrace.enqueue(t.parts.contracts.IMAGE_PROCESSING, { media_id: id, kind: 'listing' })
  const crashed = t.millrace.events.next('job_retry_scheduled')
  await t.millrace.work({ handlers })
  const isWriting = "select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
  await eventually(async () => (await t.sql(isWriting)).length > 0, 25_000)
  for (const pid of running('IMAGE_PROCESSING')) process.kill(pid, 'SIGSEGV')
  expect(JSON.stringify(await crashed)).toContain('SIGSEGV')
  await blocker.query('rollback')
  blocker.release()
  expect(await t.millrace.result(job, { timeout: '60s' })).toMatchObject({ status: 'completed' })
  expect((await t.millrace.job(job))?.attempt).toBe(2)
  expect(await variantRows(t, id)).toHaveLength(6)
})
