#include "base/map.h"

#include "base/invariant.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#define ROTATE(x, bits) (((x) << (bits)) | ((x) >> (64 - (bits))))

/* SipHash-1-3, for short and possibly hostile keys. Inlined so that its state
 * stays in registers. */
static inline __attribute__((always_inline)) void sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[1] = ROTATE(v[1], 13) ^ v[0];
    v[0] = ROTATE(v[0], 32);
    v[2] += v[3];
    v[3] = ROTATE(v[3], 16) ^ v[2];
    v[0] += v[3];
    v[3] = ROTATE(v[3], 21) ^ v[0];
    v[2] += v[1];
    v[1] = ROTATE(v[1], 17) ^ v[2];
    v[2] = ROTATE(v[2], 32);
}

static uint64_t hash_key(const uint64_t seed[2], struct str key)
{
    uint64_t v[4] = {
        seed[0] ^ UINT64_C(0x736f6d6570736575),
        seed[1] ^ UINT64_C(0x646f72616e646f6d),
        seed[0] ^ UINT64_C(0x6c7967656e657261),
        seed[1] ^ UINT64_C(0x7465646279746573),
    };
    uint64_t word = 0;
    size_t i;

    for (i = 0; i + 8 <= key.n; i += 8) {
        memcpy(&word, key.p + i, 8);
        v[3] ^= word;
        sip_round(v);
        v[0] ^= word;
    }
    word = (uint64_t)key.n << 56;
    for (size_t k = i; k < key.n; k++)
        word |= (uint64_t)(unsigned char)key.p[k] << (8 * (k - i));
    v[3] ^= word;
    sip_round(v);
    v[0] ^= word;
    v[2] ^= 0xff;
    for (int k = 0; k < 3; k++)
        sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

static uint64_t process_seed[2];

static void draw_seed(void)
{
    if (getrandom(process_seed, sizeof process_seed, GRND_NONBLOCK) !=
        (ssize_t)sizeof process_seed) {
        /* Only during early boot; the stack address is sufficiently
         * unpredictable. */
        process_seed[0] = (uint64_t)(uintptr_t)&process_seed;
        process_seed[1] = (uint64_t)(uintptr_t)__builtin_frame_address(0);
    }
}

/* A child process may reveal the seed that it inherited, so after a fork the
 * parent draws a new seed for new maps. */
static void seed_process(void)
{
    draw_seed();
    pthread_atfork(NULL, draw_seed, NULL);
}

/* The maps of a process share one seed. No output depends on it. */
void map_init(struct map *m, struct arena *a)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, seed_process);
    *m = (struct map){.arena = a};
    memcpy(m->seed, process_seed, sizeof m->seed);
}

static size_t find_slot(const struct map *m, struct str key, uint64_t hash)
{
    size_t mask = m->slot_count - 1;
    size_t slot = (size_t)hash & mask;

    /* The number of slots is a power of two, and a slot is free; otherwise the
     * search would not end. */
    INVARIANT((m->slot_count & mask) == 0 && m->count < m->slot_count);
    for (; m->slots[slot]; slot = (slot + 1) & mask) {
        const struct map_entry *e = &m->entries[m->slots[slot] - 1];

        INVARIANT(m->slots[slot] <= m->count);
        if (e->hash == hash && str_eq(e->key, key))
            break;
    }
    return slot;
}

static void grow_slots(struct map *m)
{
    size_t mask;

    m->slots = arena_extend(m->arena, m->slots, m->slot_count, &m->slot_count,
                            sizeof *m->slots);
    memset(m->slots, 0, m->slot_count * sizeof *m->slots);
    mask = m->slot_count - 1;
    for (size_t i = 0; i < m->count; i++) {
        size_t slot = (size_t)m->entries[i].hash & mask;

        while (m->slots[slot])
            slot = (slot + 1) & mask;
        m->slots[slot] = (uint32_t)i + 1;
    }
}

void *map_find(const struct map *m, struct str key)
{
    size_t slot;

    if (m->count == 0)
        return NULL;
    slot = find_slot(m, key, hash_key(m->seed, key));
    return m->slots[slot] ? m->entries[m->slots[slot] - 1].value : NULL;
}

bool map_has(const struct map *m, struct str key)
{
    return m->count && m->slots[find_slot(m, key, hash_key(m->seed, key))] != 0;
}

struct map_entry *map_entry(struct map *m, struct str key)
{
    uint64_t hash = hash_key(m->seed, key);
    size_t slot;

    if ((m->count + 1) * 4 > m->slot_count * 3)
        grow_slots(m);
    slot = find_slot(m, key, hash);
    if (!m->slots[slot]) {
        m->entries = arena_extend(m->arena, m->entries, m->count, &m->capacity,
                                  sizeof *m->entries);
        m->entries[m->count] = (struct map_entry){.key = key, .hash = hash};
        INVARIANT(m->count < UINT32_MAX);
        m->slots[slot] = (uint32_t)++m->count;
    }
    return &m->entries[m->slots[slot] - 1];
}

bool map_put(struct map *m, struct str key, void *value)
{
    size_t before = m->count;

    map_entry(m, key)->value = value;
    return m->count > before;
}
