// A few at a time.

/** Calls `work` for every item, at most `most` at once. The first failure stops the rest, through the signal, and is thrown. */
export async function sideBySide<Item>(
  items: readonly Item[],
  { most, signal }: { readonly most: number; readonly signal: AbortSignal },
  work: (item: Item, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const failed = new AbortController()
  const stop = AbortSignal.any([signal, failed.signal])
  const left = items[Symbol.iterator]()
  const lane = async () => {
    for (const item of left) {
      stop.throwIfAborted()
      await work(item, stop)
    }
  }
  const lanes = Array.from({ length: Math.min(most, items.length) }, () =>
    lane().catch((error) => {
      failed.abort(error)
      throw error
    }),
  )
  const ends = await Promise.allSettled(lanes)
  // The reason of the first failure, not what it made of the others.
  if (signal.aborted) throw signal.reason
  if (failed.signal.aborted) throw failed.signal.reason
  for (const end of ends) if (end.status === 'rejected') throw end.reason
}
