// Checks the files in deploy/ without a container engine or a cluster: they are well-formed, fit each other and the program,
// and every metric they name exists.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { validate } from 'dockerfile-utils'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Secret } from 'kubernetes-models/v1/Secret'
import { Service } from 'kubernetes-models/v1/Service'
import { describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { readConfig, settings } from '../src/config.ts'
import { useServer } from './server.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const server = useServer()

/** How long a stop waits for requests and jobs in progress; see main.ts. */
const patienceSeconds = 20

describe('the Dockerfile', () => {
  const text = read('Dockerfile')

  test('passes the linter', () => {
    expect(validate(text)).toEqual([])
  })

  test('copies only files that exist and that .dockerignore lets through', () => {
    const allowed = read('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1))
    const copied = [...text.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '))
    expect(copied.length).toBeGreaterThan(5)
    for (const source of copied) {
      expect(existsSync(path.join(root, source)), source).toBe(true)
      expect(
        allowed.some((each) => source === each || source.startsWith(`${each}/`)),
        source,
      ).toBe(true)
    }
  })

  test('starts the program directly, and not as root', () => {
    const { scripts } = JSON.parse(read('package.json'))
    const [, command = ''] = /^CMD (.+)$/m.exec(text) ?? []
    expect(JSON.parse(command).join(' ')).toBe(scripts.start.replace('exec ', ''))
    expect(text).toMatch(/^USER 1000:1000$/m)
  })
})

describe('compose.yaml', () => {
  const compose = parse(read('compose.yaml'), { merge: true })
  const names = (file: string) => [...read(file).matchAll(/^([A-Z_]+)=/gm)].map(([, name]) => name ?? '')

  test('hole 9: no example lets workflows call this machine', () => {
    const values = [
      /^BELFRY_ALLOW_PRIVATE_ADDRESSES=(.*)$/m.exec(read('deploy/belfry.env.example'))?.[1],
      parse(read('deploy/kubernetes/base/config.yaml')).data.BELFRY_ALLOW_PRIVATE_ADDRESSES,
    ]
    expect(values).toEqual(['false', 'false'])
  })

  test('stops no service too early, and writes only to temporary storage', () => {
    for (const name of ['belfry', 'worker']) {
      const { stop_grace_period, read_only, cap_drop, restart } = compose.services[name]
      const { config } = readConfig({ DATABASE_URL: 'postgres://x', BELFRY_SECRET_KEY: 'a1'.repeat(32) })
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(config.drainSeconds + patienceSeconds)
      expect({ read_only, cap_drop, restart }).toEqual({
        read_only: true,
        cap_drop: ['ALL'],
        restart: 'unless-stopped',
      })
    }
  })

  test('its example settings are complete and spelled correctly', () => {
    const known = new Set<string>(settings.map(({ name }) => name))
    const given = names('deploy/belfry.env.example')
    expect(given).toEqual(expect.arrayContaining(['DATABASE_URL', 'BELFRY_SECRET_KEY', 'POSTGRES_PASSWORD']))
    expect(given.filter((name) => !name.startsWith('POSTGRES_') && !known.has(name))).toEqual([])
  })
})

const models = { ConfigMap, Deployment, HorizontalPodAutoscaler, Ingress, PodDisruptionBudget, Secret, Service }
type Manifest = { apiVersion: string; kind: string; metadata: { name: string } } & Record<string, any>

const folder = 'deploy/kubernetes'
const manifestsIn = (file: string) =>
  parseAllDocuments(read(file)).map((document): Manifest => {
    expect(document.errors, file).toEqual([])
    return document.toJS()
  })
const files = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml') && !file.endsWith('kustomization.yaml'))
  .map((file) => path.join(folder, file))
const all = files.flatMap(manifestsIn)
const ofKind = (kind: string) => all.filter((each) => each.kind === kind)

describe('the manifests', () => {
  test.each(files)("%s matches the cluster's schema", (file) => {
    for (const manifest of manifestsIn(file)) {
      const Model = models[manifest.kind as keyof typeof models]
      // KEDA's schema comes with its operator.
      if (manifest.kind === 'ScaledObject') continue
      expect(Model, manifest.kind).toBeDefined()
      const { apiVersion, kind } = Model as unknown as { apiVersion: string; kind: string }
      const made = new Model(manifest as never)
      expect(made).toMatchObject({ apiVersion: manifest.apiVersion, kind: manifest.kind })
      expect(() => made.validate(), `${apiVersion} ${kind} ${manifest.metadata.name}`).not.toThrow()
    }
  })

  test('every overlay names existing files, and every file is named', () => {
    const named = ['base', 'keda'].flatMap((overlay) => {
      const { resources } = parse(read(`${folder}/${overlay}/kustomization.yaml`))
      return resources.map((resource: string) => path.join(folder, overlay, resource))
    })
    for (const file of named) expect(existsSync(path.join(root, file)), file).toBe(true)
    expect(files.filter((file) => !named.includes(file))).toEqual([`${folder}/secret.example.yaml`])
  })

  test('selectors, scale targets and references exist', () => {
    const deployments = ofKind('Deployment')
    expect(deployments.map(({ metadata }) => metadata.name)).toEqual(['belfry-api', 'belfry-worker'])
    for (const { spec, metadata } of deployments) {
      const { labels } = spec.template.metadata
      expect(labels).toMatchObject(spec.selector.matchLabels)
      const budget = ofKind('PodDisruptionBudget').find((each) => each.metadata.name === metadata.name)
      expect(labels).toMatchObject(budget?.spec.selector.matchLabels)
      const refs = spec.template.spec.containers[0].envFrom.map((each: any) => Object.entries(each)[0])
      for (const [ref, { name }] of refs)
        expect(ofKind(ref === 'secretRef' ? 'Secret' : 'ConfigMap').map((each) => each.metadata.name)).toContain(name)
    }
    const targets = [...ofKind('HorizontalPodAutoscaler'), ...ofKind('ScaledObject')]
    expect(targets.map(({ spec }) => spec.scaleTargetRef.name)).toEqual(['belfry-api', 'belfry-worker'])
    for (const { http } of ofKind('Ingress').flatMap(({ spec }) => spec.rules))
      for (const { backend } of http.paths)
        expect(ofKind('Service').map((each) => each.metadata.name)).toContain(backend.service.name)
  })

  test('settings exist, and Belfry would start with them', () => {
    const [config, secret] = [ofKind('ConfigMap')[0]?.data, ofKind('Secret')[0]?.stringData]
    for (const { spec } of ofKind('Deployment')) {
      const env = Object.fromEntries(spec.template.spec.containers[0].env.map(({ name, value }: any) => [name, value]))
      const given = { ...config, ...secret, ...env, BELFRY_SECRET_KEY: 'a1'.repeat(32) }
      const { config: known, warnings } = readConfig(given)
      expect(warnings).toEqual([])
      const drain = known.role === 'worker' ? 0 : known.drainSeconds
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain + patienceSeconds)
    }
  })

  test('no pod runs as root, writes to its image, or is probed at a missing path', async () => {
    for (const { spec } of ofKind('Deployment')) {
      const { securityContext, containers } = spec.template.spec
      const [container] = containers
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 })
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      })
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
        expect((await fetch(server.url + container[probe].httpGet.path)).status, probe).toBe(200)
    }
  })
})

describe('metrics', () => {
  const ours = /\b(?:belfry|nodejs|process)_[a-z0-9_]+/g
  const known = async () => {
    const text = await (await fetch(`${server.url}/metrics`)).text()
    return new Set(
      [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].flatMap(([, name = '', type]) =>
        type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
      ),
    )
  }
  const dashboard = JSON.parse(read('deploy/grafana/belfry.json'))
  const rules = parse(read('deploy/prometheus/alerts.yaml')).groups.flatMap((group: any) => group.rules)
  const queries: Record<string, string[]> = {
    dashboard: dashboard.panels.flatMap(({ targets = [] }: any) => targets.map(({ expr }: any) => expr)),
    alerts: rules.map(({ expr }: any) => expr),
    autoscaler: ofKind('ScaledObject').flatMap(({ spec }) => spec.triggers.map(({ metadata }: any) => metadata.query)),
  }

  test.each(Object.keys(queries))('every metric that the %s uses exists', async (name) => {
    const names = (queries[name] ?? []).flatMap((query) => query.match(ours) ?? [`nothing in: ${query}`])
    expect(names.length).toBeGreaterThan(0)
    const existing = await known()
    expect(names.filter((each) => !existing.has(each))).toEqual([])
  })

  test('every metric of ours is shown', async () => {
    const shown = queries.dashboard?.join(' ') ?? ''
    const stems = [...(await known())]
      .filter((each) => each.startsWith('belfry_'))
      .map((each) => each.replace(/_(bucket|sum|count)$/, ''))
    expect(stems.filter((each) => !shown.includes(each))).toEqual([])
  })

  test('panels have different ids and do not overlap', () => {
    const ids = dashboard.panels.map(({ id }: any) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { gridPos } of dashboard.panels) expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24)
  })
})
