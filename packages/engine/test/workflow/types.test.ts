// Checked by the compiler in `npm run build`: each @ts-expect-error fails the build if the line below it compiles.

import {
  chain,
  defineBatch,
  defineWorkflow,
  type FailurePolicy,
  type WorkflowDefinition,
  type WorkflowInput,
} from 'millrace'
import { expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  capture,
  compress,
  ownOrg,
  remind,
  removeUpload,
  report,
  sweep,
  syncOrg,
  thumbnail,
  upload,
} from './contracts.js'

const start = defineWorkflow('screenshot', { input: z.object({ url: z.string(), folder: z.string() }) })

/** Only compiled, never run. */
function neverRun() {
  start.step('capture', capture, {
    payload: ({ input }) => ({ url: input.url }),
    when: ({ input }) => input.url.length > 0,
    delay: ({ input }) => new Date(input.folder),
  })
  const approved = start
    .signal('approved', {
      payload: z.object({ at: z.coerce.date() }),
      timeout: ({ input }) => (input.url === '' ? '1h' : new Date()),
    })
    .signal('go', { after: { approved: 'continue' }, when: ({ results }) => results.approved !== undefined })
    .sleep('nap', { after: ['approved', 'go'], for: ({ results }) => results.approved.at })
  approved.step('capture', capture, {
    after: { approved: 'continue', go: 'fail', nap: 'fail' },
    payload: ({ results }) => {
      expectTypeOf(results.approved).toEqualTypeOf<{ at: Date } | undefined>()
      expectTypeOf(results.go).toEqualTypeOf<undefined>()
      return { url: '' }
    },
  })
  expectTypeOf(approved.requiresTenant).toEqualTypeOf<false>()
  // @ts-expect-error its name is taken
  approved.signal('approved', {})
  // @ts-expect-error only steps declared above can be waited for
  approved.signal('other', { after: 'later' })
  // @ts-expect-error it does not say for how long
  approved.sleep('other', {})
  // @ts-expect-error what comes with a signal is declared by a schema
  approved.signal('other', { payload: { at: 'string' } })
  const child = defineWorkflow('child', { input: z.object({ url: z.string() }) })
    .step('capture', capture, {})
    .each('thumbnails', thumbnail, { over: () => [1], payload: ({ item }) => ({ size: item }) })
  start
    .workflow('child', child, { input: ({ input }) => ({ url: input.url }) })
    .workflow('bare', defineWorkflow('bare').step('sweep', sweep, {}), { after: 'child' })
    .step('capture', capture, {
      after: 'child',
      payload: ({ results }) => {
        expectTypeOf(results.child.capture).toEqualTypeOf<{ file: string } | undefined>()
        expectTypeOf(results.child.thumbnails).toEqualTypeOf<readonly ({ thumb: string } | undefined)[] | undefined>()
        return { url: '' }
      },
    })
  // What needs no options takes none.
  const bare = defineWorkflow('bare').step('sweep', sweep).signal('go').workflow('nested', defineWorkflow('nested'))
  bare.step('capture', capture, {
    after: ['sweep', 'go', 'nested'],
    payload: ({ results }) => {
      expectTypeOf(results.go).toEqualTypeOf<undefined>()
      return { url: '' }
    },
  })
  defineWorkflow('with input', { input: z.object({ url: z.string() }) }).step('capture', capture)
  // @ts-expect-error nothing makes its payload
  defineWorkflow('bare').step('capture', capture)
  // @ts-expect-error the input does not fit
  start.step('compress', compress)
  // @ts-expect-error its name is taken
  bare.step('sweep', sweep)
  // @ts-expect-error it takes an input
  start.workflow('child', child)
  // @ts-expect-error it takes an input
  start.workflow('child', child, {})
  // @ts-expect-error another one
  start.workflow('child', child, { input: () => ({ uri: '' }) })
  // @ts-expect-error a job is no workflow
  start.workflow('child', capture, {})
  expectTypeOf(
    defineWorkflow('tenants').workflow(
      'child',
      defineWorkflow('sync').step('a', syncOrg, { payload: () => ({ org: '' }) }),
      {},
    ).requiresTenant,
  ).toEqualTypeOf<true>()
  // @ts-expect-error a condition says yes or no
  start.step('capture', capture, { payload: ({ input }) => ({ url: input.url }), when: ({ input }) => input.url })
  // @ts-expect-error a delay is a duration or a Date
  start.step('capture', capture, { payload: ({ input }) => ({ url: input.url }), delay: 'soon' })
  // @ts-expect-error only results of steps directly before it are seen
  start.step('capture', capture, { payload: ({ input }) => ({ url: input.url }), when: ({ results }) => results.other })
  const captured = start.step('capture', capture, {
    payload: ({ input, results, workflowId }) => {
      expectTypeOf(input).toEqualTypeOf<{ url: string; folder: string }>()
      expectTypeOf<keyof typeof results>().toEqualTypeOf<never>()
      expectTypeOf(workflowId).toEqualTypeOf<string>()
      return { url: input.url }
    },
  })
  const compressed = captured.step('compress', compress, {
    after: 'capture',
    payload: ({ results }) => {
      expectTypeOf(results.capture).toEqualTypeOf<{ file: string }>()
      return { file: results.capture.file }
    },
  })
  const thumbs = compressed.each('thumbnails', thumbnail, {
    after: 'compress',
    over: ({ results }) => results.compress.sizes,
    payload: ({ item, index, results }) => {
      expectTypeOf(item).toEqualTypeOf<number>()
      expectTypeOf(index).toEqualTypeOf<number>()
      expectTypeOf(results.compress.file).toEqualTypeOf<string>()
      return { size: item }
    },
  })
  const screenshot = thumbs.step('upload', upload, {
    after: { compress: 'fail', thumbnails: 'continue' },
    payload: ({ results, input }) => {
      expectTypeOf(results.compress.file).toEqualTypeOf<string>()
      expectTypeOf(results.thumbnails).toEqualTypeOf<readonly ({ thumb: string } | undefined)[]>()
      return {
        file: `${input.folder}/${results.compress.file}`,
        thumbs: results.thumbnails.flatMap((t) => t?.thumb ?? []),
      }
    },
    undo: {
      job: removeUpload,
      payload: ({ result, payload, results }) => {
        expectTypeOf(result).toEqualTypeOf<{ key: string }>()
        expectTypeOf(payload).toEqualTypeOf<{ file: string; thumbs: string[] }>()
        expectTypeOf(results.compress.file).toEqualTypeOf<string>()
        return { key: result.key }
      },
    },
  })
  expectTypeOf(screenshot).toExtend<WorkflowDefinition>()
  expectTypeOf<WorkflowInput<typeof screenshot>>().toEqualTypeOf<{ url: string; folder: string }>()

  results(compressed, thumbs)
  edges(captured, compressed, thumbs)
  payloads(captured, compressed)
  undos(captured)
  tenants()
  chains()
  batches()
}

type Captured = ReturnType<typeof capturedOnly>
type Compressed = ReturnType<typeof compressedToo>
type Thumbs = ReturnType<typeof thumbsToo>
const capturedOnly = () => start.step('capture', capture, {})
const compressedToo = () => capturedOnly().step('compress', compress, { after: 'capture' })
const thumbsToo = () =>
  compressedToo().each('thumbnails', thumbnail, {
    after: 'compress',
    over: ({ results }) => results.compress.sizes,
    payload: ({ item }) => ({ size: item }),
  })

function results(compressed: Compressed, thumbs: Thumbs) {
  const files = { file: '', thumbs: [] }
  thumbs.step('a', upload, {
    after: ['compress', 'thumbnails'],
    payload: ({ results }) => {
      expectTypeOf(results.compress).toEqualTypeOf<{ file: string; sizes: number[] }>()
      expectTypeOf(results.thumbnails).toEqualTypeOf<readonly { thumb: string }[]>()
      // @ts-expect-error only the steps directly before it hand on a result
      void results.capture
      return files
    },
  })
  compressed.step('a', upload, {
    after: { capture: 'continue', compress: 'skip' },
    payload: ({ results }) => {
      expectTypeOf(results.capture).toEqualTypeOf<{ file: string } | undefined>()
      expectTypeOf(results.compress).toEqualTypeOf<{ file: string; sizes: number[] }>()
      // @ts-expect-error over this edge there may be no result
      void results.capture.file
      return files
    },
  })
  const policy = 'fail' as FailurePolicy
  compressed.step('a', upload, {
    after: { compress: policy },
    payload: ({ results }) => {
      expectTypeOf(results.compress).toEqualTypeOf<{ file: string; sizes: number[] } | undefined>()
      return files
    },
  })
  const swept = compressed.step('sweep', sweep, { payload: () => ({}) })
  swept.step('a', sweep, {
    after: 'sweep',
    payload: ({ results }) => {
      expectTypeOf(results.sweep).toEqualTypeOf<unknown>()
      return {}
    },
  })
}

function edges(captured: Captured, compressed: Compressed, thumbs: Thumbs) {
  const payload = () => ({})
  captured.step('b', sweep, { after: 'capture', payload })
  // @ts-expect-error there is no such step
  captured.step('b', sweep, { after: 'kapture', payload })
  // @ts-expect-error the step is declared later: no cycle can be written
  captured.step('b', sweep, { after: 'compress', payload })
  // @ts-expect-error a step does not wait for itself
  captured.step('b', sweep, { after: 'b', payload })
  // @ts-expect-error the first step has none before it
  start.step('b', sweep, { after: 'capture', payload })
  // @ts-expect-error the first step has none before it, in a list neither
  start.step('b', sweep, { after: ['capture'], payload })
  // @ts-expect-error one of the list does not exist
  compressed.step('b', sweep, { after: ['capture', 'kompress'], payload })
  // @ts-expect-error one of the names does not exist
  compressed.step('b', sweep, { after: { capture: 'fail', kompress: 'fail' }, payload })
  // @ts-expect-error there is no such policy
  compressed.step('b', sweep, { after: { capture: 'ignore' }, payload })
  // @ts-expect-error the name is taken
  compressed.step('capture', sweep, { payload })
  // @ts-expect-error the name is taken, by a step of another kind
  thumbs.step('thumbnails', sweep, { payload })
  // @ts-expect-error the name is taken
  thumbs.each('capture', sweep, { over: () => [1], payload })
  // @ts-expect-error a step with many jobs needs its list
  thumbs.each('b', sweep, { payload })
  // @ts-expect-error what it runs over must be a list
  thumbs.each('b', sweep, { over: () => 3, payload })
  // @ts-expect-error there is no such option
  defineWorkflow('x', { onFailure: 'retry' })
}

function payloads(captured: Captured, compressed: Compressed) {
  // @ts-expect-error a field has the wrong type
  start.step('a', capture, { payload: () => ({ url: 1 }) })
  // @ts-expect-error a field is missing
  start.step('a', capture, { payload: () => ({}) })
  // @ts-expect-error the result before it has another type
  captured.step('a', thumbnail, { after: 'capture', payload: ({ results }) => ({ size: results.capture.file }) })
  // @ts-expect-error the element has another type
  captured.each('a', thumbnail, { over: () => ['small'], payload: ({ item }) => ({ size: item }) })
  // @ts-expect-error the input has no such field
  start.step('a', capture, { payload: ({ input }) => ({ url: input.address }) })
  // @ts-expect-error the handler's side of a transform is not what a job is given
  start.step('a', remind, { payload: () => ({ at: new Date() }) })

  // What comes in fits as it is: the input, the result of the one step before it.
  start.step('a', capture, {})
  captured.step('a', compress, { after: 'capture' })
  defineWorkflow('nothing').step('a', sweep, {})
  // @ts-expect-error the input does not fit
  start.step('a', thumbnail, {})
  // @ts-expect-error there is no input
  defineWorkflow('nothing').step('a', capture, {})
  // @ts-expect-error the result before it does not fit
  captured.step('a', thumbnail, { after: 'capture' })
  // @ts-expect-error there may be no result
  captured.step('a', compress, { after: { capture: 'continue' } })
  // @ts-expect-error which of the two?
  compressed.step('a', compress, { after: ['capture', 'compress'] })
  // @ts-expect-error for each element its payload
  captured.each('a', thumbnail, { over: () => [{ size: 1 }] })
}

function undos(captured: Captured) {
  const payload = () => ({ file: '', thumbs: [] })
  // @ts-expect-error the payload does not fit the job that undoes
  captured.step('a', upload, { payload, undo: { job: removeUpload, payload: () => ({ name: '' }) } })
  // @ts-expect-error the result has no such field
  captured.step('a', upload, { payload, undo: { job: removeUpload, payload: ({ result }) => ({ key: result.name }) } })
  // @ts-expect-error an undo is a job
  captured.step('a', upload, { payload, undo: { payload: () => ({ key: '' }) } })
}

function tenants() {
  const org = z.object({ org: z.string() })
  const plain = start.step('a', capture, {})
  expectTypeOf(plain.requiresTenant).toEqualTypeOf<false>()
  const derived = defineWorkflow('x', { input: org }).step('a', ownOrg, {})
  expectTypeOf(derived.requiresTenant).toEqualTypeOf<false>()
  const required = derived.step('b', syncOrg, {})
  expectTypeOf(required.requiresTenant).toEqualTypeOf<true>()
  expectTypeOf(required.step('c', ownOrg, {}).requiresTenant).toEqualTypeOf<true>()
  const undone = derived.step('b', ownOrg, { undo: { job: syncOrg, payload: () => ({ org: '' }) } })
  expectTypeOf(undone.requiresTenant).toEqualTypeOf<true>()
}

function chains() {
  const links = chain('x', [capture, compress, compress])
  expectTypeOf<WorkflowInput<typeof links>>().toEqualTypeOf<{ url: string }>()
  const dated = chain('x', [remind])
  expectTypeOf<WorkflowInput<typeof dated>>().toEqualTypeOf<{ at: string }>()
  // @ts-expect-error the result before it does not fit
  chain('x', [capture, thumbnail])
  // @ts-expect-error the result before it does not fit, further on
  chain('x', [capture, compress, compress, thumbnail])
  // @ts-expect-error a chain has at least one job
  chain('x', [])
  expectTypeOf(chain('x', [syncOrg]).requiresTenant).toEqualTypeOf<true>()
  expectTypeOf(chain('x', [ownOrg]).requiresTenant).toEqualTypeOf<false>()
}

function batches() {
  const batch = defineBatch('x', { each: thumbnail, finally: report })
  expectTypeOf<WorkflowInput<typeof batch>>().toEqualTypeOf<readonly { size: number }[]>()
  expectTypeOf(batch.requiresTenant).toEqualTypeOf<false>()
  defineBatch('x', { each: thumbnail })
  // @ts-expect-error it does not take the counts
  defineBatch('x', { each: thumbnail, finally: capture })
  // @ts-expect-error of what?
  defineBatch('x', { finally: report })
  expectTypeOf(defineBatch('x', { each: syncOrg, finally: report }).requiresTenant).toEqualTypeOf<true>()
}

test('the lines above compile, and those marked do not', () => {
  expectTypeOf(neverRun).toBeFunction()
})
