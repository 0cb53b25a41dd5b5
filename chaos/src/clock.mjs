// Preloaded into the service so that its wall clock can be changed, like a machine's. Timers use the monotonic clock, which
// stays.
const Real = Date
let offsetMs = Number(process.env.CHAOS_OFFSET_MS ?? 0)

globalThis.Date = new Proxy(Real, {
  construct(target, args, newTarget) {
    return Reflect.construct(target, args.length === 0 ? [Real.now() + offsetMs] : args, newTarget)
  },
  apply: () => new Date().toString(),
  get: (target, name) => (name === 'now' ? () => Real.now() + offsetMs : Reflect.get(target, name)),
})

process.on('message', (/** @type {{ offsetMs: number }} */ message) => {
  offsetMs = message.offsetMs
})
// Exit with the parent.
process.on('disconnect', () => process.exit(0))
process.channel?.unref()
