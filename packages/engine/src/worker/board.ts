// Memory shared by the main thread and the pulse thread: which claimed jobs have started, and who is alive.
//
// A claimed job is "unstarted" until the executor takes its flag. While the event loop is blocked the executor cannot,
// and the pulse takes the flag instead and gives the job back. Both use compare-and-exchange on the same word, so a job
// is started or returned, never both.

const FREE = 0
const UNSTARTED = 1
const STARTED = 2
const RETURNED = 3

const VITALS_BYTES = 2 * BigInt64Array.BYTES_PER_ELEMENT
const MAIN_BEAT = 0
const TRUSTED_UNTIL = 1

export class Board {
  readonly buffer: SharedArrayBuffer
  readonly #flags: Int32Array
  readonly #vitals: BigInt64Array

  constructor(buffer: SharedArrayBuffer) {
    this.buffer = buffer
    this.#vitals = new BigInt64Array(buffer, 0, 2)
    this.#flags = new Int32Array(buffer, VITALS_BYTES)
  }

  static withPlaces(count: number): Board {
    return new Board(new SharedArrayBuffer(VITALS_BYTES + count * Int32Array.BYTES_PER_ELEMENT))
  }

  get size(): number {
    return this.#flags.length
  }

  /** Main: a claimed job waits here for its start. */
  put(place: number): void {
    Atomics.store(this.#flags, place, UNSTARTED)
  }

  /** Main: true when the job may run; false when the pulse gave it back. */
  start(place: number): boolean {
    return Atomics.compareExchange(this.#flags, place, UNSTARTED, STARTED) === UNSTARTED
  }

  /** Pulse: true when the job is ours to give back; false when it has started, or ended. */
  takeBack(place: number): boolean {
    return Atomics.compareExchange(this.#flags, place, UNSTARTED, RETURNED) === UNSTARTED
  }

  isStarted(place: number): boolean {
    return Atomics.load(this.#flags, place) === STARTED
  }

  /** Main: the run is over, or its handler is given up as leaked. */
  clear(place: number): void {
    Atomics.store(this.#flags, place, FREE)
  }

  /** Main: the event loop turned at this time. */
  beat(nowMs: number): void {
    Atomics.store(this.#vitals, MAIN_BEAT, BigInt(Math.round(nowMs)))
  }

  lastBeat(): number {
    return Number(Atomics.load(this.#vitals, MAIN_BEAT))
  }

  /** Pulse: until when the lease may be relied on, on the monotonic clock. */
  trustUntil(ms: number): void {
    Atomics.store(this.#vitals, TRUSTED_UNTIL, BigInt(Math.floor(ms)))
  }

  trustedUntil(): number {
    return Number(Atomics.load(this.#vitals, TRUSTED_UNTIL))
  }
}
