// SPDX-License-Identifier: MIT
/*
 * Text of events: lines of kernels' traces (captures of 6.18, 6.12 and 6.1), without the offsets
 * of callers, pfn and the times of jbd2_run_stats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include <foliofs/event.h>
#include <foliofs/op.h>

#include "alloc/alloc.h"
#include "blockmap/blockmap.h"

#define S(s) ((uint64_t)(uintptr_t)(s))
#define N(v) ((uint64_t)-(int64_t)(v))

struct line {
	enum foliofs_event_id id;
	uint8_t nargs;
	uint64_t arg[FOLIOFS_EVENT_ARGS];
	const char *text;
};

static const struct line newest[] = {
	{ FOLIOFS_EV_mm_filemap_add_to_page_cache, 3,
	  { 0xc, 0, 0 },
	  "dev 7:40 ino c pfn=0x0 ofs=0 order=0" },
	{ FOLIOFS_EV_mm_filemap_delete_from_page_cache, 3,
	  { 0xc, 4096, 0 },
	  "dev 7:40 ino c pfn=0x0 ofs=4096 order=0" },
	{ FOLIOFS_EV_ext4_journal_start_inode, 6,
	  { 2, 0, 8, 1, 12, S("ext4_dirty_inode") },
	  "dev 7,40 blocks 2, rsv_blocks 0, revoke_creds 8, type 1, ino 12, caller "
	  "ext4_dirty_inode" },
	{ FOLIOFS_EV_ext4_journal_start_sb, 5,
	  { 46, 0, 8, 4, S("__ext4_new_inode") },
	  "dev 7,40 blocks 46, rsv_blocks 0, revoke_creds 8, type 4, caller __ext4_new_inode" },
	{ FOLIOFS_EV_ext4_journal_start_reserved, 2,
	  { 41, S("ext4_convert_unwritten_io_end_vec") },
	  "dev 7,40 blocks, 41 caller ext4_convert_unwritten_io_end_vec" },
	{ FOLIOFS_EV_jbd2_handle_start, 4,
	  { 3, 4, 2822, 47 },
	  "dev 7,40 tid 3 type 4 line_no 2822 requested_blocks 47" },
	{ FOLIOFS_EV_jbd2_handle_extend, 5,
	  { 6, 3, 4606, 31, 2 },
	  "dev 7,40 tid 6 type 3 line_no 4606 buffer_credits 31 requested_blocks 2" },
	{ FOLIOFS_EV_jbd2_handle_restart, 4,
	  { 27, 5, 4627, 8 },
	  "dev 7,40 tid 27 type 5 line_no 4627 requested_blocks 8" },
	{ FOLIOFS_EV_jbd2_handle_stats, 7,
	  { 3, 4, 2822, 0, 0, 47, 5 },
	  "dev 7,40 tid 3 type 4 line_no 2822 interval 0 sync 0 requested_blocks 47 "
	  "dirtied_blocks 5" },
	{ FOLIOFS_EV_jbd2_handle_stats, 7,
	  { 6, 3, 4606, 0, 0, 33, N(1) },
	  "dev 7,40 tid 6 type 3 line_no 4606 interval 0 sync 0 requested_blocks 33 "
	  "dirtied_blocks -1" },
	{ FOLIOFS_EV_jbd2_start_commit, 2,
	  { 3, 0 },
	  "dev 7,40 transaction 3 sync 0" },
	{ FOLIOFS_EV_jbd2_end_commit, 3,
	  { 3, 0, 2 },
	  "dev 7,40 transaction 3 sync 0 head 2" },
	{ FOLIOFS_EV_jbd2_run_stats, 4,
	  { 3, 7, 7, 9 },
	  "dev 7,40 tid 3 wait 0 request_delay 0 running 0 locked 0 flushing 0 logging 0 "
	  "handle_count 7 blocks 7 blocks_logged 9" },
	{ FOLIOFS_EV_ext4_write_begin, 3,
	  { 12, 0, 4096 },
	  "dev 7,40 ino 12 pos 0 len 4096" },
	{ FOLIOFS_EV_ext4_da_write_begin, 3,
	  { 12, 0, 100 },
	  "dev 7,40 ino 12 pos 0 len 100" },
	{ FOLIOFS_EV_ext4_write_end, 4,
	  { 12, 0, 65536, 65536 },
	  "dev 7,40 ino 12 pos 0 len 65536 copied 65536" },
	{ FOLIOFS_EV_ext4_journalled_write_end, 4,
	  { 12, 0, 4096, 4096 },
	  "dev 7,40 ino 12 pos 0 len 4096 copied 4096" },
	{ FOLIOFS_EV_ext4_da_write_end, 4,
	  { 12, 0, 100, 100 },
	  "dev 7,40 ino 12 pos 0 len 100 copied 100" },
	{ FOLIOFS_EV_ext4_writepages, 9,
	  { 12, 9223372036854775807ull, 0, 0, 9223372036854775807ull, 1, 0, 0, 0 },
	  "dev 7,40 ino 12 nr_to_write 9223372036854775807 pages_skipped 0 range_start 0 "
	  "range_end 9223372036854775807 sync_mode 1 for_kupdate 0 range_cyclic 0 "
	  "writeback_index 0" },
	{ FOLIOFS_EV_ext4_writepages_result, 6,
	  { 12, 0, 1, 0, 1, 1 },
	  "dev 7,40 ino 12 ret 0 pages_written 1 pages_skipped 0 sync_mode 1 writeback_index 1" },
	{ FOLIOFS_EV_ext4_da_write_folios_start, 5,
	  { 12, 0x0, 0x1000, 9223372036854775807ull, 1 },
	  "dev 7,40 ino 12 start_pos 0x0 next_pos 0x1000 nr_to_write 9223372036854775807 "
	  "sync_mode 1" },
	{ FOLIOFS_EV_ext4_da_write_folios_end, 5,
	  { 12, 0x1000, 0x1000, 9223372036854775806ull, 0 },
	  "dev 7,40 ino 12 start_pos 0x1000 next_pos 0x1000 nr_to_write 9223372036854775806 "
	  "ret 0" },
	{ FOLIOFS_EV_ext4_da_write_pages_extent, 4,
	  { 12, 0, 2, 0x100 },
	  "dev 7,40 ino 12 lblk 0 len 2 flags 0x100" },
	{ FOLIOFS_EV_ext4_da_write_pages_extent, 4,
	  { 12, 85, 2, 0x800 },
	  "dev 7,40 ino 12 lblk 85 len 2 flags U" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, 0, 0, 0, 1, 0, 0 },
	  "dev 7,40 ino 12 flags  lblk 0 pblk 0 len 1 mflags  ret 0" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_DELALLOC | FFS_GET_PRE_IO |
	    FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT | FFS_GET_EX_NOCACHE, 0, 8705, 2,
	    FFS_MAP_NEW | FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN, 2 },
	  "dev 7,40 ino 12 flags "
	  "CREATE|UNWRIT|DELALLOC|PRE_IO|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE lblk 0 pblk 8705 "
	  "len 2 mflags NMU ret 2" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_CONVERT | FFS_GET_IO_SUBMIT |
	    FFS_GET_EX_NOCACHE, 0, 8705, 2, FFS_MAP_MAPPED, 2 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|CONVERT|IO_SUBMIT|EX_NOCACHE lblk 0 pblk 8705 "
	  "len 2 mflags M ret 2" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE, 73, 5245, 74, FFS_MAP_NEW
	    | FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN, 74 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|NO_NORMALIZE lblk 73 pblk 5245 len 74 mflags "
	  "NMU ret 74" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_PRE_IO | FFS_GET_METADATA_NOFAIL |
	    FFS_GET_IO_SUBMIT | FFS_GET_EX_NOCACHE, 85, 5257, 2, FFS_MAP_NEW | FFS_MAP_MAPPED |
	    FFS_MAP_UNWRITTEN, 2 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|PRE_IO|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE "
	  "lblk 85 pblk 5257 len 2 mflags NMU ret 2" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, 0, 84, 5336, 1, FFS_MAP_MAPPED, 1 },
	  "dev 7,40 ino 12 flags  lblk 84 pblk 5336 len 1 mflags M ret 1" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE, 0, 2065, 1, FFS_MAP_NEW | FFS_MAP_MAPPED, 1 },
	  "dev 7,40 ino 12 flags CREATE lblk 0 pblk 2065 len 1 mflags NM ret 1" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE, 32, 2097, 33,
	    FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN, 33 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|NO_NORMALIZE lblk 32 pblk 2097 len 33 mflags MU "
	  "ret 33" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE | FFS_GET_CONVERT_UNWRITTEN
	    | FFS_GET_EX_NOCACHE, 17, 2082, 3, FFS_MAP_UNWRITTEN, 3 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|NO_NORMALIZE|CONVERT_UNWRITTEN|EX_NOCACHE lblk "
	  "17 pblk 2082 len 3 mflags U ret 3" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE | FFS_GET_CONVERT_UNWRITTEN
	    | FFS_GET_EX_NOCACHE, 20, 2085, 9, FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN, 9 },
	  "dev 7,40 ino 12 flags CREATE|UNWRIT|NO_NORMALIZE|CONVERT_UNWRITTEN|EX_NOCACHE lblk "
	  "20 pblk 2085 len 9 mflags MU ret 9" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 13, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_NO_NORMALIZE | FFS_GET_CONVERT_UNWRITTEN
	    | FFS_GET_EX_NOCACHE, 45, 8523, 1,
	    FFS_MAP_NEW | FFS_MAP_MAPPED | FFS_MAP_UNWRITTEN, 1 },
	  "dev 7,40 ino 13 flags CREATE|UNWRIT|NO_NORMALIZE|CONVERT_UNWRITTEN|EX_NOCACHE lblk "
	  "45 pblk 8523 len 1 mflags NMU ret 1" },
	{ FOLIOFS_EV_ext4_ext_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_DELALLOC | FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT |
	    FFS_GET_EX_NOCACHE, 10, 34307, 1, FFS_MAP_NEW | FFS_MAP_MAPPED, 1 },
	  "dev 7,40 ino 12 flags CREATE|DELALLOC|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE lblk 10 "
	  "pblk 34307 len 1 mflags NM ret 1" },
	{ FOLIOFS_EV_ext4_ind_map_blocks_exit, 7,
	  { 12, 0, 0, 0, 1, 0, 0 },
	  "dev 7,40 ino 12 flags  lblk 0 pblk 0 len 1 mflags  ret 0" },
	{ FOLIOFS_EV_ext4_ind_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_DELALLOC | FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT |
	    FFS_GET_EX_NOCACHE, 0, 2062, 10, FFS_MAP_NEW | FFS_MAP_MAPPED, 10 },
	  "dev 7,40 ino 12 flags CREATE|DELALLOC|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE lblk 0 "
	  "pblk 2062 len 10 mflags NM ret 10" },
	{ FOLIOFS_EV_ext4_ind_map_blocks_exit, 7,
	  { 12, FFS_GET_CREATE | FFS_GET_DELALLOC | FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT |
	    FFS_GET_EX_NOCACHE, 10, 2584, 2, FFS_MAP_NEW | FFS_MAP_MAPPED | FFS_MAP_BOUNDARY, 2 },
	  "dev 7,40 ino 12 flags CREATE|DELALLOC|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE lblk 10 "
	  "pblk 2584 len 2 mflags NMB ret 2" },
	{ FOLIOFS_EV_ext4_ext_handle_unwritten_extents, 7,
	  { 12, 0, 8705, 2, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_CONVERT |
	    FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT | FFS_GET_EX_NOCACHE, 2, 8705 },
	  "dev 7,40 ino 12 m_lblk 0 m_pblk 8705 m_len 2 flags "
	  "CREATE|UNWRIT|CONVERT|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE allocated 2 newblock 8705" },
	{ FOLIOFS_EV_ext4_ext_handle_unwritten_extents, 7,
	  { 12, 85, 5257, 2, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_PRE_IO |
	    FFS_GET_METADATA_NOFAIL | FFS_GET_IO_SUBMIT | FFS_GET_EX_NOCACHE, 62, 5257 },
	  "dev 7,40 ino 12 m_lblk 85 m_pblk 5257 m_len 2 flags "
	  "CREATE|UNWRIT|PRE_IO|METADATA_NOFAIL|IO_SUBMIT|EX_NOCACHE allocated 62 newblock 5257" },
	{ FOLIOFS_EV_ext4_ext_handle_unwritten_extents, 7,
	  { 12, 32, 2097, 33, FFS_GET_CREATE | FFS_GET_UNWRIT | FFS_GET_METADATA_NOFAIL |
	    FFS_GET_NO_NORMALIZE, 224, 2097 },
	  "dev 7,40 ino 12 m_lblk 32 m_pblk 2097 m_len 33 flags "
	  "CREATE|UNWRIT|METADATA_NOFAIL|NO_NORMALIZE allocated 224 newblock 2097" },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_DATA | FFS_MB_DELALLOC | FFS_MB_USE_RESERVED, 2, 0, 8193, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags HINT_DATA|DELALLOC_RESV|USE_RESV len 2 lblk 0 goal 8193 lleft "
	  "0 lright 0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_DATA | FFS_MB_NOPREALLOC, 19, 72, 5224, 48, 73, 5200, 0 },
	  "dev 7,40 ino 12 flags HINT_DATA|HINT_NOPREALLOC len 19 lblk 72 goal 5224 lleft 48 "
	  "lright 73 pleft 5200 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_USE_RESERVED, 1, 0, 131072, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags USE_RESV len 1 lblk 0 goal 131072 lleft 0 lright 0 pleft 0 "
	  "pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_DATA, 1, 0, 29693, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags HINT_DATA len 1 lblk 0 goal 29693 lleft 0 lright 0 pleft 0 "
	  "pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, 0, 1, 0, 32768, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags  len 1 lblk 0 goal 32768 lleft 0 lright 0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 13, FFS_MB_DELALLOC | FFS_MB_USE_RESERVED, 1, 0, 32768, 0, 0, 0, 0 },
	  "dev 7,40 ino 13 flags DELALLOC_RESV|USE_RESV len 1 lblk 0 goal 32768 lleft 0 lright "
	  "0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 13, FFS_MB_TRY_GOAL | FFS_MB_DELALLOC | FFS_MB_USE_RESERVED, 1, 0, 395328, 0, 0, 0, 0 },
	  "dev 7,40 ino 13 flags HINT_TRY_GOAL|DELALLOC_RESV|USE_RESV len 1 lblk 0 goal 395328 "
	  "lleft 0 lright 0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 13, FFS_MB_DATA | FFS_MB_NOPREALLOC | FFS_MB_DELALLOC, 1, 0, 32768, 0, 0, 0, 0 },
	  "dev 7,40 ino 13 flags HINT_DATA|HINT_NOPREALLOC|DELALLOC_RESV len 1 lblk 0 goal "
	  "32768 lleft 0 lright 0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_DELALLOC, 1, 0, 2585, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags DELALLOC_RESV len 1 lblk 0 goal 2585 lleft 0 lright 0 pleft 0 "
	  "pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 13, FFS_MB_TRY_GOAL, 1, 0, 22528, 0, 0, 0, 0 },
	  "dev 7,40 ino 13 flags HINT_TRY_GOAL len 1 lblk 0 goal 22528 lleft 0 lright 0 pleft "
	  "0 pright 0 " },
	{ FOLIOFS_EV_ext4_request_blocks, 9,
	  { 12, FFS_MB_TRY_GOAL | FFS_MB_USE_RESERVED, 1, 0, 8450, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags HINT_TRY_GOAL|USE_RESV len 1 lblk 0 goal 8450 lleft 0 lright "
	  "0 pleft 0 pright 0 " },
	{ FOLIOFS_EV_ext4_allocate_blocks, 10,
	  { 12, FFS_MB_DATA | FFS_MB_DELALLOC | FFS_MB_USE_RESERVED, 2, 8705, 0, 8193, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags HINT_DATA|DELALLOC_RESV|USE_RESV len 2 block 8705 lblk 0 goal "
	  "8193 lleft 0 lright 0 pleft 0 pright 0" },
	{ FOLIOFS_EV_ext4_allocate_blocks, 10,
	  { 12, FFS_MB_DATA | FFS_MB_NOPREALLOC, 19, 5244, 72, 5224, 48, 73, 5200, 0 },
	  "dev 7,40 ino 12 flags HINT_DATA|HINT_NOPREALLOC len 19 block 5244 lblk 72 goal 5224 "
	  "lleft 48 lright 73 pleft 5200 pright 0" },
	{ FOLIOFS_EV_ext4_allocate_blocks, 10,
	  { 12, FFS_MB_USE_RESERVED, 1, 5156, 0, 131072, 0, 0, 0, 0 },
	  "dev 7,40 ino 12 flags USE_RESV len 1 block 5156 lblk 0 goal 131072 lleft 0 lright 0 "
	  "pleft 0 pright 0" },
	{ FOLIOFS_EV_ext4_free_blocks, 5,
	  { 12, 0100644, 5153, 1, FFS_FREE_VALIDATED | FFS_FREE_NOFREE_FIRST |
	    FFS_FREE_NOFREE_LAST },
	  "dev 7,40 ino 12 mode 0100644 block 5153 count 1 flags "
	  "VALIDATED|1ST_CLUSTER|LAST_CLUSTER" },
	{ FOLIOFS_EV_ext4_free_blocks, 5,
	  { 12, 0100644, 5316, 4, FFS_FREE_VALIDATED },
	  "dev 7,40 ino 12 mode 0100644 block 5316 count 4 flags VALIDATED" },
	{ FOLIOFS_EV_ext4_free_blocks, 5,
	  { 12, 0100644, 5156, 1, FFS_FREE_METADATA | FFS_FREE_FORGET | FFS_FREE_VALIDATED },
	  "dev 7,40 ino 12 mode 0100644 block 5156 count 1 flags METADATA|FORGET|VALIDATED" },
	{ FOLIOFS_EV_ext4_free_blocks, 5,
	  { 12, 0100644, 2577, 16, FFS_FREE_FORGET | FFS_FREE_VALIDATED | FFS_FREE_NOFREE_FIRST |
	    FFS_FREE_NOFREE_LAST },
	  "dev 7,40 ino 12 mode 0100644 block 2577 count 16 flags "
	  "FORGET|VALIDATED|1ST_CLUSTER|LAST_CLUSTER" },
	{ FOLIOFS_EV_ext4_ext_remove_space, 4,
	  { 12, 1, 2, 0 },
	  "dev 7,40 ino 12 since 1 end 2 depth 0" },
	{ FOLIOFS_EV_ext4_remove_blocks, 9,
	  { 12, 0, 5152, 2, 1, 1, 1294, 0, 2 },
	  "dev 7,40 ino 12 extent [0(5152), 2]from 1 to 1 partial [pclu 1294 lblk 0 state 2]" },
	{ FOLIOFS_EV_ext4_truncate_enter, 2,
	  { 12, 800 },
	  "dev 7,40 ino 12 blocks 800" },
	{ FOLIOFS_EV_ext4_truncate_exit, 2,
	  { 12, 320 },
	  "dev 7,40 ino 12 blocks 320" },
	{ FOLIOFS_EV_ext4_punch_hole, 4,
	  { 12, 4096, 8192, 0 },
	  "dev 7,40 ino 12 offset 4096 len 8192 mode " },
	{ FOLIOFS_EV_ext4_zero_range, 4,
	  { 12, 66000, 200000, FOLIOFS_FALLOC_ZERO_RANGE },
	  "dev 7,40 ino 12 offset 66000 len 200000 mode ZERO_RANGE" },
	{ FOLIOFS_EV_ext4_zero_range, 4,
	  { 12, 6244, 2048, FOLIOFS_FALLOC_KEEP_SIZE | FOLIOFS_FALLOC_ZERO_RANGE },
	  "dev 7,40 ino 12 offset 6244 len 2048 mode KEEP_SIZE|ZERO_RANGE" },
	{ FOLIOFS_EV_ext4_collapse_range, 3,
	  { 12, 65536, 65536 },
	  "dev 7,40 ino 12 offset 65536 len 65536" },
	{ FOLIOFS_EV_ext4_insert_range, 3,
	  { 12, 131072, 8192 },
	  "dev 7,40 ino 12 offset 131072 len 8192" },
	{ FOLIOFS_EV_ext4_fallocate_enter, 4,
	  { 12, 300000, 300000, 0 },
	  "dev 7,40 ino 12 offset 300000 len 300000 mode " },
	{ FOLIOFS_EV_ext4_fallocate_enter, 4,
	  { 12, 856064, 65536, FOLIOFS_FALLOC_KEEP_SIZE },
	  "dev 7,40 ino 12 offset 856064 len 65536 mode KEEP_SIZE" },
	{ FOLIOFS_EV_ext4_fallocate_exit, 4,
	  { 12, 300000, 74, 0 },
	  "dev 7,40 ino 12 pos 300000 blocks 74 ret 0" },
	{ FOLIOFS_EV_ext4_fallocate_exit, 4,
	  { 13, 0, 512, N(28) },
	  "dev 7,40 ino 13 pos 0 blocks 512 ret -28" },
	{ FOLIOFS_EV_ext4_es_insert_extent, 5,
	  { 12, 0, 4294967295u, 0, 8 },
	  "dev 7,40 ino 12 es [0/4294967295) mapped 0 status H" },
	{ FOLIOFS_EV_ext4_es_insert_extent, 5,
	  { 12, 0, 2, 8705, 2 },
	  "dev 7,40 ino 12 es [0/2) mapped 8705 status U" },
	{ FOLIOFS_EV_ext4_es_insert_extent, 5,
	  { 12, 0, 2, 8705, 1 },
	  "dev 7,40 ino 12 es [0/2) mapped 8705 status W" },
	{ FOLIOFS_EV_ext4_es_insert_delayed_extent, 7,
	  { 12, 0, 1, 0, 4, 0, 0 },
	  "dev 7,40 ino 12 es [0/1) mapped 0 status D allocated 0 0" },
	{ FOLIOFS_EV_ext4_es_remove_extent, 3,
	  { 12, 1, 2 },
	  "dev 7,40 ino 12 es [1/2)" },
	{ FOLIOFS_EV_ext4_invalidate_folio, 4,
	  { 12, 1, 0, 4096 },
	  "dev 7,40 ino 12 folio_index 1 offset 0 length 4096" },
	{ FOLIOFS_EV_ext4_journalled_invalidate_folio, 4,
	  { 12, 15, 0, 4096 },
	  "dev 7,40 ino 12 folio_index 15 offset 0 length 4096" },
	{ FOLIOFS_EV_ext4_mark_inode_dirty, 2,
	  { 12, S("__ext4_new_inode") },
	  "dev 7,40 ino 12 caller __ext4_new_inode" },
	{ FOLIOFS_EV_ext4_da_reserve_space, 5,
	  { 12, 0100644, 0, 1, 1 },
	  "dev 7,40 ino 12 mode 0100644 i_blocks 0 reserve_blocks 1reserved_data_blocks 1" },
	{ FOLIOFS_EV_ext4_da_update_reserve_space, 6,
	  { 12, 0100644, 0, 2, 2, 1 },
	  "dev 7,40 ino 12 mode 0100644 i_blocks 0 used_blocks 2 reserved_data_blocks 2 "
	  "quota_claim 1" },
	{ FOLIOFS_EV_ext4_da_release_space, 5,
	  { 12, 0100644, 12288, 248, 248 },
	  "dev 7,40 ino 12 mode 0100644 i_blocks 12288 freed_blocks 248 reserved_data_blocks "
	  "248" },
	{ FOLIOFS_EV_ext4_sync_file_enter, 3,
	  { 12, 2, 0 },
	  "dev 7,40 ino 12 parent 2 datasync 0 " },
	{ FOLIOFS_EV_ext4_sync_file_exit, 2,
	  { 12, 0 },
	  "dev 7,40 ino 12 ret 0" },
	{ FOLIOFS_EV_ext4_sync_fs, 1,
	  { 0 },
	  "dev 7,40 wait 0" },
	{ FOLIOFS_EV_ext4_discard_preallocations, 2,
	  { 12, 2 },
	  "dev 7,40 ino 12 len: 2" },
	{ FOLIOFS_EV_ext4_mb_new_inode_pa, 4,
	  { 12, 4385, 122, 6 },
	  "dev 7,40 ino 12 pstart 4385 len 122 lstart 6" },
	{ FOLIOFS_EV_ext4_mb_new_group_pa, 4,
	  { 12, 8705, 512, 8705 },
	  "dev 7,40 ino 12 pstart 8705 len 512 lstart 8705" },
	{ FOLIOFS_EV_ext4_mb_release_inode_pa, 3,
	  { 12, 10242, 2047 },
	  "dev 7,40 ino 12 block 10242 count 2047" },
};

/* With the names of the events, since these differ. */
static const struct line in_6_12[] = {
	{ FOLIOFS_EV_ext4_da_write_folios_start, 5,
	  { 12, 0, 0, 9223372036854775807ull, 1 },
	  "ext4_da_write_pages: dev 7,40 ino 12 first_page 0 nr_to_write 9223372036854775807 "
	  "sync_mode 1" },
};

static const struct line in_6_1[] = {
	{ FOLIOFS_EV_ext4_journal_start_inode, 6,
	  { 53, 0, 32, 0, 0, S("__ext4_new_inode") },
	  "ext4_journal_start: dev 7,40 blocks 53, rsv_blocks 0, revoke_creds 32, caller "
	  "__ext4_new_inode" },
	{ FOLIOFS_EV_ext4_da_reserve_space, 5,
	  { 12, 0100644, 0, 0, 1 },
	  "ext4_da_reserve_space: dev 7,40 ino 12 mode 0100644 i_blocks 0 reserved_data_blocks "
	  "1" },
	{ FOLIOFS_EV_ext4_es_insert_delayed_extent, 6,
	  { 12, 0, 1, 0, 4, 0 },
	  "ext4_es_insert_delayed_block: dev 7,40 ino 12 es [0/1) mapped 0 status D allocated 0" },
	{ FOLIOFS_EV_ext4_da_write_folios_start, 5,
	  { 12, 0, 0, 9223372036854775807ull, 1 },
	  "ext4_da_write_pages: dev 7,40 ino 12 first_page 0 nr_to_write 9223372036854775807 "
	  "sync_mode 1" },
	{ FOLIOFS_EV_ext4_writepage, 2,
	  { 12, 0 },
	  "ext4_writepage: dev 7,40 ino 12 page_index 0" },
};

static struct foliofs_event event_of(const struct line *l)
{
	struct foliofs_event ev = { .id = l->id, .nargs = l->nargs };

	memcpy(ev.arg, l->arg, sizeof(ev.arg));
	return ev;
}

static void text_of_6_18(void **state)
{
	struct foliofs_kernel k;
	struct foliofs_event_form form = { &k, "7,40", 4096 };
	char buf[512], line[640], err[120];
	size_t i;

	(void)state;
	assert_int_equal(foliofs_kernel_parse("6.18.44", &k, err, sizeof(err)), 0);
	for (i = 0; i < ARRAY_SIZE(newest); i++) {
		struct foliofs_event ev = event_of(&newest[i]);
		int n = foliofs_event_text(&ev, "7,40", buf, sizeof(buf));

		assert_string_equal(buf, newest[i].text);
		assert_int_equal(n, strlen(newest[i].text));
		/* a kernel without large folios prints the rest alike, this one all of it */
		snprintf(line, sizeof(line), "%s: %s", foliofs_event_name(ev.id), newest[i].text);
		foliofs_event_text_for(&form, &ev, buf, sizeof(buf));
		assert_string_equal(buf, line);
	}
}

static void check_form(const char *kernel, const struct line *lines, size_t nr)
{
	struct foliofs_kernel k;
	struct foliofs_event_form form = { &k, "7,40", 4096 };
	char buf[512], err[120];
	size_t i;

	assert_int_equal(foliofs_kernel_parse(kernel, &k, err, sizeof(err)), 0);
	for (i = 0; i < nr; i++) {
		struct foliofs_event ev = event_of(&lines[i]);

		foliofs_event_text_for(&form, &ev, buf, sizeof(buf));
		assert_string_equal(buf, lines[i].text);
		assert_int_equal(strncmp(foliofs_event_name_for(&k, ev.id), lines[i].text,
					 strcspn(lines[i].text, ":")),
				 0);
	}
}

static void older_forms(void **state)
{
	struct foliofs_event end = { .id = FOLIOFS_EV_ext4_da_write_folios_end, .nargs = 5 };
	struct foliofs_kernel k;
	struct foliofs_event_form form = { &k, "7,40", 4096 };
	char buf[64], err[120];

	(void)state;
	check_form("6.12.117", in_6_12, ARRAY_SIZE(in_6_12));
	check_form("6.1.192", in_6_1, ARRAY_SIZE(in_6_1));
	/* 6.12 tells only that a round begins */
	assert_int_equal(foliofs_kernel_parse("6.12.117", &k, err, sizeof(err)), 0);
	assert_null(foliofs_event_name_for(&k, end.id));
	assert_int_equal(foliofs_event_text_for(&form, &end, buf, sizeof(buf)), 0);
	/* 6.12 already has the starts with type and inode */
	assert_string_equal(foliofs_event_name_for(&k, FOLIOFS_EV_ext4_journal_start_sb),
			    "ext4_journal_start_sb");
}

static void words(void **state)
{
	(void)state;
	struct foliofs_event ev = { .id = FOLIOFS_EV_ext4_free_blocks, .nargs = 5,
				    .arg = { 12, 0100644, 7, 1, 0 } };
	char buf[128];

	/* a bit without a word: in hex behind the others, alone if there are none */
	ev.arg[4] = FFS_FREE_VALIDATED | FFS_FREE_RERESERVE;
	foliofs_event_text(&ev, "7,40", buf, sizeof(buf));
	assert_string_equal(buf, "dev 7,40 ino 12 mode 0100644 block 7 count 1 flags "
				 "VALIDATED|0x40");
	ev.arg[4] = FFS_FREE_RERESERVE;
	foliofs_event_field_text(&ev, 4, buf, sizeof(buf));
	assert_string_equal(buf, "0x40");
	foliofs_event_field_text(&ev, 1, buf, sizeof(buf));
	assert_string_equal(buf, "100644");
	assert_int_equal(foliofs_event_field_text(&ev, 5, buf, sizeof(buf)), -ENOENT);
	assert_int_equal(foliofs_event_field_text(&ev, -1, buf, sizeof(buf)), -ENOENT);
}

static void short_buffers(void **state)
{
	struct foliofs_event ev = { .id = FOLIOFS_EV_ext4_sync_fs, .nargs = 1, .arg = { 1 } };
	const char *whole = "dev 7,40 wait 1";
	char buf[32];
	size_t n;

	(void)state;
	for (n = 1; n < sizeof(buf); n++) {
		memset(buf, 'x', sizeof(buf));
		assert_int_equal(foliofs_event_text(&ev, "7,40", buf, n), 15);
		assert_int_equal(strlen(buf), n - 1 < 15 ? n - 1 : 15);
		assert_int_equal(strncmp(buf, whole, strlen(buf)), 0);
		if (n < sizeof(buf))
			assert_int_equal(buf[n], 'x');
	}
	assert_int_equal(foliofs_event_text(&ev, "7,40", NULL, 0), 15);
	ev.id = FOLIOFS_EV_COUNT;
	assert_int_equal(foliofs_event_text(&ev, "7,40", buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
}

static void names(void **state)
{
	enum foliofs_op_kind kind;
	enum foliofs_event_id id;

	(void)state;
	assert_int_equal(foliofs_event_find("jbd2_handle_stats", &id), 0);
	assert_int_equal(id, FOLIOFS_EV_jbd2_handle_stats);
	assert_int_equal(foliofs_event_field(id, "tid"), 0);
	assert_int_equal(foliofs_event_field(id, "requested_blocks"), 5);
	assert_int_equal(foliofs_event_field(id, "dirtied_blocks"), 6);
	assert_int_equal(foliofs_event_field(id, "dirtied"), -ENOENT);
	assert_int_equal(foliofs_event_field(id, "-"), -ENOENT);
	assert_int_equal(foliofs_event_find("jbd2_handle", &id), -ENOENT);
	assert_null(foliofs_event_name(FOLIOFS_EV_COUNT));
	assert_null(foliofs_event_fields(FOLIOFS_EV_COUNT));

	assert_int_equal(foliofs_op_find("sleep_ms", &kind), 0);
	assert_int_equal(kind, FOLIOFS_OP_SLEEP);
	assert_string_equal(foliofs_op_name(FOLIOFS_OP_SYNC_RANGE), "syncrange");
	assert_int_equal(foliofs_op_find("sleep", &kind), -ENOENT);
	assert_null(foliofs_op_name(FOLIOFS_OP_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_of_6_18), cmocka_unit_test(older_forms),
		cmocka_unit_test(words),	cmocka_unit_test(short_buffers),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
