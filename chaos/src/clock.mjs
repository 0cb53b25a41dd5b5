// Loaded into the service before its own program: its wall clock can be set, as that of a machine can. Timers go on by the
// other clock, which nobody sets.
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
// Nobody is left behind when whoever plays the faults is gone.
process.on('disconnect', () => process.exit(0))
process.channel?.unref()
