// A thread in the process of an isolated handler. If the worker is killed while the handler blocks the event loop,
// nobody in that loop would ever hear of it: the process would compute on for ever, for nobody.
import { workerData } from 'node:worker_threads'

const WATCH_MS = 250
const { workerPid } = workerData as { workerPid: number }

setInterval(() => {
  // An orphan is adopted at once, so its parent is another one.
  if (process.ppid !== workerPid) process.kill(-process.pid, 'SIGKILL')
}, WATCH_MS)
