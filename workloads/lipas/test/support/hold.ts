// Holds a call to a service of the sandbox, so that a test can act while a job is in the middle of its work.
import type { Answer, Call, Service } from '@millrace/sandbox'

export interface Held {
  /** Resolves when the call has come. */
  readonly reached: Promise<void>
  /** Lets it go on; with an answer, that is what it gets. */
  release(answer?: Answer): void
}

/** The next call that fits. Later ones pass. */
export function holdNext(service: Service, fits: (call: Call) => boolean = () => true): Held {
  const real = service.answer.bind(service)
  let tellReached = () => {}
  const reached = new Promise<void>((resolve) => {
    tellReached = resolve
  })
  let release: Held['release'] = () => {}
  const released = new Promise<Answer | undefined>((resolve) => {
    release = resolve
  })
  let isHeld = false
  service.answer = async (call) => {
    if (isHeld || !fits(call)) return real(call)
    isHeld = true
    tellReached()
    return (await released) ?? real(call)
  }
  return { reached, release }
}

/** Every call that fits, from now until it is opened. */
export function holdAll(service: Service, fits: (call: Call) => boolean = () => true) {
  const real = service.answer.bind(service)
  let [held, isOpen] = [0, false]
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = () => {
      isOpen = true
      resolve()
    }
  })
  service.answer = async (call) => {
    if (isOpen || !fits(call)) return real(call)
    held += 1
    await opened
    return real(call)
  }
  return { count: () => held, open }
}
