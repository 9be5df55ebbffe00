// The reader of the output may leave before its end: `millrace jobs | head -1`. The command then finishes its work in silence.

/** A closed pipe on stdout or stderr is no failure. Any other error of theirs is. */
export function tolerateClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error
    })
  }
}
