// The examples of the guide to workflows are taken out of it, type-checked and run.
import type { WorkflowDefinition } from 'millrace'
import { expect, test } from 'vitest'
import { examplesOf } from '../support/guide.ts'

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
