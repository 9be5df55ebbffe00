// The examples of the guide to workflows are taken out of it, type-checked and run.
import {
  type Implementation,
  implement,
  type JobContract,
  type Millrace,
  Unrecoverable,
  type WorkflowChangeResult,
  type WorkflowDefinition,
} from 'millrace'
import { drain } from 'millrace/testing'
import type pg from 'pg'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'
import { setup } from '../support/setup.ts'

test('the examples pass the type checker', async () => {
  await using guide = await examplesOf('workflows.md')
  expect(await guide.complaints()).toBe('')
})

test('results reach the upload without the thumbnails that failed, and the upload can be undone', async () => {
  await using guide = await examplesOf('workflows.md')
  const { screenshot } = await guide.load<{ screenshot: WorkflowDefinition }>('screenshot.ts')
  const [, , thumbnails, upload] = screenshot.steps
  const results = { compress: { file: 'c', sizes: [1, 2] }, thumbnails: [{ file: 't' }, undefined] }
  const scope = { workflowId: '1', input: { url: 'u', folder: 'f' }, results, counts: {} }
  expect(thumbnails?.over?.(scope)).toEqual([1, 2])
  expect(thumbnails?.payload(scope, 2, 1)).toEqual({ file: 'c', size: 2 })
  expect(upload?.payload(scope, undefined, 0)).toEqual({ folder: 'f', files: ['c', 't'] })
  const undone = { ...scope, payload: {}, result: { keys: ['k'] } }
  expect(upload?.undo?.payload(undone)).toEqual({ keys: ['k'] })
})

test('the short forms are workflows', async () => {
  await using guide = await examplesOf('workflows.md')
  const forms = await guide.load<Record<'shrink' | 'thumbnails', WorkflowDefinition>>('short-forms.ts')
  const namesOf = ({ steps }: WorkflowDefinition) => steps.map(({ name }) => name)
  expect(namesOf(forms.shrink)).toEqual(['capture', 'compress'])
  expect(namesOf(forms.thumbnails)).toEqual(['each', 'finally'])
})

type Examples = Awaited<ReturnType<typeof examplesOf>>
type Changed = (millrace: Millrace, id: string) => Promise<WorkflowChangeResult>

/** A database with all workflows of the guide, and handlers that note what they were given. */
async function running(guide: Examples, broken: Set<string>) {
  const t = await setup()
  for (const text of guide.sql) await t.sql(text)
  const contracts = await guide.load<Record<string, JobContract>>('contracts.ts')
  const { screenshot } = await guide.load<{ screenshot: WorkflowDefinition }>('screenshot.ts')
  const forms = await guide.load<Record<'shrink' | 'thumbnails', WorkflowDefinition>>('short-forms.ts')
  const done: [type: string, payload: unknown][] = []
  const answers: Record<string, (payload: never) => unknown> = {
    capture: () => ({ file: 'page.png' }),
    compress: ({ file }: { file: string }) => ({ file, sizes: [256, 64] }),
    thumbnail: ({ file, size }: { file: string; size: number }) => ({ file: `${size}-${file}` }),
    upload: ({ folder, files }: { folder: string; files: string[] }) => ({ keys: files.map((f) => `${folder}/${f}`) }),
  }
  const handlers: Implementation[] = Object.values(contracts).map((contract) =>
    implement(contract, (payload) => {
      if (broken.has(contract.type)) throw new Unrecoverable(`${contract.type} is broken`)
      done.push([contract.type, payload])
      return answers[contract.type]?.(payload as never)
    }),
  )
  const workflows = [screenshot, forms.shrink, forms.thumbnails]
  const millrace = t.client([], { workflows })
  return { ...t, millrace, done, work: () => drain(millrace, handlers) }
}

interface Look {
  register(millrace: Millrace, pool: pg.Pool, url: string): Promise<string>
  uploaded(millrace: Millrace, id: string): Promise<unknown>
  progress(millrace: Millrace, id: string): Promise<string[]>
}

test('a site is registered with its workflow, which is awaited and looked at', async () => {
  await using guide = await examplesOf('workflows.md')
  await using t = await running(guide, new Set())
  const { register } = await guide.load<Look>('start.ts')
  const { uploaded, progress } = await guide.load<Look>('look.ts')
  const id = await register(t.millrace, t.pool, 'https://example.com')
  await expect(register(t.millrace, t.pool, 'https://example.com')).rejects.toThrow(/duplicate key/)
  expect(await t.millrace.workflows.list()).toHaveLength(1)
  expect(await progress(t.millrace, id)).toEqual([
    'capture running: 0 of 1, 0 failed',
    ...['compress', 'thumbnails', 'upload'].map((name) => `${name} waiting: 0 of 0, 0 failed`),
  ])
  await t.work()
  const keys = ['shots/page.png', 'shots/256-page.png', 'shots/64-page.png']
  expect(await uploaded(t.millrace, id)).toEqual({ keys })
  expect((await progress(t.millrace, id))[2]).toBe('thumbnails completed: 2 of 2, 0 failed')
  expect((await t.millrace.jobsByCorrelation(`workflow-${id}`)).jobs).toHaveLength(5)
})

test('a workflow that failed is resumed with what somebody wrote, and one that runs is cancelled', async () => {
  await using guide = await examplesOf('workflows.md')
  const broken = new Set(['upload'])
  await using t = await running(guide, broken)
  const { register } = await guide.load<Look>('start.ts')
  const { uploaded } = await guide.load<Look>('look.ts')
  const decide = await guide.load<Record<'stop' | 'again' | 'otherwise' | 'undo', Changed>>('decide.ts')
  const id = await register(t.millrace, t.pool, 'https://example.com')
  await t.work()
  await expect(uploaded(t.millrace, id)).rejects.toThrow(/is failed: step "upload" failed: .*upload is broken/)
  expect(await decide.again(t.millrace, id)).toEqual({ status: 'done', as: 'running' })
  await t.work()
  broken.clear()
  t.done.length = 0
  expect(await decide.otherwise(t.millrace, id)).toEqual({ status: 'done', as: 'running' })
  await t.work()
  expect(await uploaded(t.millrace, id)).toEqual({ keys: ['other/page.png'] })
  expect(t.done).toEqual([['upload', { folder: 'other', files: ['page.png'] }]])
  expect(await decide.undo(t.millrace, id)).toMatchObject({ status: 'refused', as: 'completed' })
  const other = await register(t.millrace, t.pool, 'https://example.org')
  expect(await decide.stop(t.millrace, other)).toMatchObject({ status: 'done' })
  expect(await t.millrace.workflows.result(other)).toMatchObject({ status: 'cancelled', reason: 'the site is gone' })
})

test('a dead letter of a step is not redriven, and is retried when its workflow is resumed', async () => {
  await using guide = await examplesOf('workflows.md')
  const broken = new Set(['upload'])
  await using t = await running(guide, broken)
  const { register } = await guide.load<Look>('start.ts')
  const { again } = await guide.load<Record<'again', Changed>>('decide.ts')
  const id = await register(t.millrace, t.pool, 'https://example.com')
  await t.work()
  const [letter] = await t.millrace.deadLetters.list()
  const [redriven] = await t.millrace.deadLetters.redrive([letter?.id ?? ''], { by: 'ann' })
  expect(redriven).toMatchObject({ status: 'refused', reason: 'workflow' })
  await again(t.millrace, id)
  expect(await t.millrace.deadLetters.get(letter?.id ?? '')).toMatchObject({ status: 'retried' })
})

test('a batch counts its jobs and reports them at its end; jobs in a row are listed', async () => {
  await using guide = await examplesOf('workflows.md')
  const broken = new Set<string>()
  await using t = await running(guide, broken)
  const batch = await guide.load<{
    shrinkAll(millrace: Millrace, files: string[]): Promise<{ id: string }>
    counted(millrace: Millrace, id: string): Promise<unknown>
  }>('batch.ts')
  const { id } = await batch.shrinkAll(t.millrace, ['a', 'b', 'c'])
  expect(await batch.counted(t.millrace, id)).toEqual({ total: 3, completed: 0, failed: 0 })
  await t.work()
  expect(t.done.at(-1)).toEqual(['report', { total: 3, completed: 3, failed: 0 }])
  broken.add('thumbnail')
  const failing = await batch.shrinkAll(t.millrace, ['a', 'b'])
  await t.work()
  expect(await t.millrace.workflows.result(failing.id)).toMatchObject({ status: 'completed' })
  expect(await batch.counted(t.millrace, failing.id)).toEqual({ total: 2, completed: 0, failed: 2 })
  expect(t.done.at(-1)).toEqual(['report', { total: 2, completed: 0, failed: 2 }])

  t.done.length = 0
  const { inARow } = await guide.load<{ inARow(millrace: Millrace, folder: string): Promise<{ id: string }> }>(
    'in-a-row.ts',
  )
  const row = await inARow(t.millrace, 'f')
  await t.work()
  expect(await t.millrace.workflows.result(row.id)).toMatchObject({ results: { upload: { keys: ['f/page.png'] } } })
  expect(t.done).toEqual([
    ['capture', { url: 'https://example.org' }],
    ['upload', { folder: 'f', files: ['page.png'] }],
  ])
  expect((await t.millrace.jobsByCorrelation('monday')).jobs).toHaveLength(2)
})
