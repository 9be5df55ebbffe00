// The page of an order is kept: captured over HTTP, compressed, uploaded to a folder. No handler code.
import { defineJob, defineQueues, defineWorkflow, fixed } from 'millrace'
import { z } from 'zod'

const queues = defineQueues({ pages: { priority: 8, concurrency: 3, timeout: '10s' } })

/** A name, not a path: no job can reach a file outside the workload's folder. */
const fileName = z.string().regex(/^[\w-][\w.-]*$/)
const retry = { attempts: 4, backoff: fixed('500ms') }

/** Fetches the page of an order into a file. A repeated run writes the same file. */
export const capturePage = defineJob({
  type: 'page.capture',
  queue: queues.pages,
  payload: z.object({ orderId: z.string(), name: fileName }),
  result: z.object({ file: fileName }),
  retry,
  examples: [{ orderId: '1', name: 'order-1-5f0c' }],
})

export const compressPage = defineJob({
  type: 'page.compress',
  queue: queues.pages,
  payload: z.object({ file: fileName }),
  result: z.object({ file: fileName, bytes: z.int() }),
  retry,
  examples: [{ file: 'order-1-5f0c.html' }],
})

/** Puts a file into the folder of kept pages, which is full now and then. */
export const uploadPage = defineJob({
  type: 'page.upload',
  queue: queues.pages,
  payload: z.object({ file: fileName }),
  result: z.object({ file: fileName }),
  retry,
  examples: [{ file: 'order-1-5f0c.html.gz' }],
})

/** Takes a file away, if it is there: what the other three have made. */
export const removeFile = defineJob({
  type: 'page.remove',
  queue: queues.pages,
  payload: z.object({ file: fileName, from: z.enum(['work', 'kept']) }),
  retry,
  examples: [{ file: 'order-1-5f0c.html', from: 'work' }],
})

const undoFrom = (from: 'work' | 'kept') => ({
  job: removeFile,
  payload: ({ result }: { result: { file: string } }) => ({ file: result.file, from }),
})

/** Started with a name of its own, so that every run of a step means the same file. */
export const keepPage = defineWorkflow('keep-page', { input: z.object({ orderId: z.string(), name: fileName }) })
  .step('capture', capturePage, { undo: undoFrom('work') })
  .step('compress', compressPage, { after: 'capture', undo: undoFrom('work') })
  .step('upload', uploadPage, { after: 'compress', undo: undoFrom('kept') })
  // A page that is kept is not given up because something was left in the other folder.
  .each('tidy', removeFile, {
    after: ['capture', 'compress', 'upload'],
    over: ({ results }) => [results.capture.file, results.compress.file],
    payload: ({ item }) => ({ file: item, from: 'work' as const }),
    onFailure: 'continue',
  })
